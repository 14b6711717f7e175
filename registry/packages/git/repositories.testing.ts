/** Real repositories in temporary folders, and the tools at work in them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PluginContext, Prompt, Tool, ToolResult } from 'newt-agent';
import { Programs, programEnvironment } from '../../../kernel/exec.ts';
import { temporaryWorkspace, type Workspace } from '../../../test/support/tool-call.ts';
import plugin from './index.ts';

export interface Site extends AsyncDisposable {
  readonly cwd: string;
  /** Runs git as the person would, without the tools. */
  git(...args: string[]): string;
  /** Writes files below the workspace. */
  write(files: Readonly<Record<string, string | Buffer>>): void;
  /** Commits everything. */
  commit(message: string): void;
  /** What a tool answers; failures are thrown. */
  run(tool: string, input?: object): Promise<ToolResult>;
  text(tool: string, input?: object): Promise<string>;
  /** The message of a call that fails. */
  failure(tool: string, input?: object): Promise<string>;
  preview(tool: string, input?: object): Promise<string | undefined>;
  prompt(cwd?: string): Promise<string | undefined>;
  readonly workspace: Workspace;
}

/** Nothing of the machine's own configuration counts. */
const identity = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null', GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.org', GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.org' };

export interface SiteOptions {
  /** Without a repository. Default: one on the branch `main`. */
  readonly bare?: boolean;
  /** Environment of the agent. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly config?: object;
}

export async function site({ bare = false, env = {}, config = {} }: SiteOptions = {}): Promise<Site> {
  const workspace = await temporaryWorkspace();
  const { cwd } = workspace;
  const surroundings: NodeJS.ProcessEnv = { PATH: process.env['PATH'], HOME: cwd, ...identity, ...env };
  const git = (...args: string[]): string => execFileSync('git', args, { cwd, env: surroundings, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (!bare) git('init', '--quiet', '--initial-branch=main');
  const write = (files: Readonly<Record<string, string | Buffer>>): void => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), content);
    }
  };
  const programs = new Programs(() => programEnvironment(surroundings, ['exec']), () => Promise.reject(new Error('no guardian here')));
  const p = { id: 'git', config: plugin.static.config?.parse(config), exec: programs.run.bind(programs), now: Date.now, log: workspace.call().log } as unknown as PluginContext;
  const made = (await plugin.setup(p as never)) as { tools: Record<string, Tool>; hooks?: { 'prompt.build': (prompt: Prompt) => Promise<Prompt> } };
  const tool = (name: string): Tool => {
    const found = made.tools[name];
    if (!found) throw new Error(`no tool ${name}`);
    return found;
  };
  const run = (name: string, input: object = {}): Promise<ToolResult> => workspace.run(tool(name), input);
  return {
    cwd,
    workspace,
    git,
    write,
    commit: (message) => void [git('add', '--all'), git('commit', '--quiet', '--no-verify', '--allow-empty', '-m', message)],
    run,
    text: async (name, input) => (await run(name, input)).text,
    failure: (name, input) =>
      run(name, input).then(
        ({ text }) => Promise.reject(new Error(`it did not fail, and answered: ${text}`)),
        (error: Error) => (error.name === 'OperationalError' ? error.message : Promise.reject(error)),
      ),
    preview: (name, input = {}) => workspace.preview(tool(name), input),
    prompt: async (folder = cwd) => (await made.hooks?.['prompt.build']({ cwd: folder, sections: [] }))?.sections.at(-1)?.text,
    async [Symbol.asyncDispose]() {
      await programs.dispose();
      await workspace[Symbol.asyncDispose]();
    },
  };
}
