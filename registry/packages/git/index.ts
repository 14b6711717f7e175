/** The plugin `git`: git repositories as tools. */
import { definePlugin, z } from 'newt-agent';
import { blameTool } from './blame.ts';
import { branchTool } from './branch.ts';
import { commitTool } from './commit.ts';
import { diffTool } from './diff.ts';
import { listTool } from './list.ts';
import { logTool } from './log.ts';
import { promptLine } from './prompt-line.ts';
import { createGit } from './run-git.ts';
import { showTool } from './show.ts';
import { stashTool } from './stash.ts';
import { statusTool } from './status.ts';

const config = z.strictObject({
  protect: z.array(z.string().min(1)).default(['main', 'master']).describe('Branches that no tool deletes; a * at the end stands for any ending'),
  prompt: z.boolean().default(true).describe('Tell the model the branch and what has changed'),
});

export default definePlugin({ id: 'git', activateOn: ['onDemand'], capabilities: ['exec'], config }, (p) => {
  const git = createGit(p);
  return {
    tools: {
      git_status: statusTool(git),
      git_diff: diffTool(git),
      git_log: logTool(git),
      git_show: showTool(git),
      git_blame: blameTool(git),
      git_list: listTool(git),
      git_branch: branchTool(git, p.config.protect),
      git_commit: commitTool(git),
      git_stash: stashTool(git),
    },
    ...(p.config.prompt && { hooks: { 'prompt.build': promptLine(p, git) } }),
  };
});
