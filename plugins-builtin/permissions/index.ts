/** Permissions: the gate in front of every tool. */
import { definePlugin } from 'newt-agent';
import { manifest } from './manifest.ts';
import { judge } from './policy.ts';

export default definePlugin(manifest, (p) => ({
  hooks: { 'tool.gate': (use) => judge(use, use.mode ?? p.config.permissions.mode, p.config.tools.paths) },
}));
