import { KernelError, type PluginContext, type PluginDefinition, type Tool } from 'newt-agent';
import { expect, it } from 'vitest';
import plugin from './index.ts';
import { manifest } from './manifest.ts';
import { findShell } from './shell-program.ts';
import { workspace } from './tool-call.testing.ts';

interface Parts {
  readonly tools: Readonly<Record<string, Tool>>;
}

const absent = (): never => {
  throw new KernelError('NO_SERVICE', { service: 'kernel.config' });
};

function setUp(definition: PluginDefinition, config: unknown, use: () => unknown = absent): { parts: Parts; owned: { dispose(): unknown }[] } {
  const owned: { dispose(): unknown }[] = [];
  const context = { id: 'shell', config, use, provide: () => ({ dispose: () => undefined }), own: (one: { dispose(): unknown }) => (owned.push(one), one) };
  const setup = definition.setup as unknown as (p: PluginContext) => Parts;
  return { parts: setup(context as unknown as PluginContext), owned };
}

it('contributes run_command and owns what it starts', async () => {
  const { parts, owned } = setUp(plugin, manifest.config.parse({}));
  expect(parts.tools['run_command']).toMatchObject({ effect: 'exec', idempotent: false });
  expect(parts.tools['run_command']?.deadline).toBeGreaterThan(3_600);
  expect(owned).toHaveLength(1);
  await owned[0]?.dispose();
});

it('keeps back what the configuration reads', async () => {
  const place = workspace();
  process.env['LAB_LOGIN'] = 'hidden-value';
  try {
    const { parts } = setUp(plugin, manifest.config.parse({}), () => ({ config: { variables: ['LAB_LOGIN'] } }));
    const { text } = await place.call(parts.tools['run_command'] as Tool, { command: 'env; echo done' });
    expect(text).toContain('done');
    expect(text).not.toContain('hidden-value');
  } finally {
    delete process.env['LAB_LOGIN'];
    await place.remove();
  }
});

it('takes its configuration from the top level', () => {
  expect(manifest.config.parse({})).toEqual({ tools: { timeout: 120, allow_exec: true } });
  expect(manifest.config.parse({ tools: { timeout: 5 } })).toEqual({ tools: { timeout: 5, allow_exec: true } });
});

it.each([
  ['linux', { PATH: './bin:/opt/bin:/usr/bin', SHELL: '/usr/bin/fish' }, ['./bin/bash', 'bin/bash', '/opt/bin/bash'], 'bash', '/bin/sh', '/opt/bin/bash'],
  ['linux', { PATH: '/usr/bin' }, [], 'sh', '/bin/sh', '/bin/sh'],
  ['win32', { Path: 'C:\\pwsh' }, ['C:\\pwsh\\pwsh.exe'], 'PowerShell', 'C:\\pwsh\\pwsh.exe', '-NonInteractive'],
  ['win32', { ComSpec: 'C:\\cmd.exe' }, [], 'cmd', 'C:\\cmd.exe', '"echo hi"'],
] as const)('on %s with %o it is the right shell', (platform, env, programs, name, file, argument) => {
  const shell = findShell(platform, env, (path) => (programs as readonly string[]).includes(path));
  expect(shell).toMatchObject({ name, file });
  expect(shell.args('echo hi')).toContain(argument);
});
