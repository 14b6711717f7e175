import { printable, type Style } from 'newt-agent';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { join } from 'node:path';
import { type Place, place } from './commands.testing.ts';
import { contentLines, type TrustContent, trustContent, trustQuestion } from './trust-content.ts';

let at: Place;
beforeEach(() => {
  at = place();
});
afterEach(() => at.remove());

const same = (text: string): string => text;
const style: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };
const key = (name: string, from: 'any' | 'trusted-project' | 'user') => ({ key: name, default: undefined, description: undefined, from });
const keys = [
  key('rounds', 'any'),
  key('model', 'trusted-project'),
  key('providers', 'trusted-project'),
  key('permissions.mode', 'trusted-project'),
  key('tools.paths', 'trusted-project'),
  key('plugins.disabled', 'trusted-project'),
  key('plugins.replaces', 'user'),
];

function contentOf(yaml: string): TrustContent {
  at.write('project/.agent/config.yaml', yaml);
  return trustContent(at.project, keys, join(at.paths.cache, 'empty'));
}

test('what counts only with trust is listed, with its values and without secrets', () => {
  const content = contentOf('rounds: 3\nmodel:\nproviders: { lab: { base_url: "http://me:pw@h/v1", api_key: sk-1, headers: { x: y } } }\nplugins: { replaces: { a: b }, disabled: [] }\n');
  expect(content.settings).toEqual([
    { key: 'providers.lab.base_url', value: 'http://me:********@h/v1' },
    { key: 'providers.lab.api_key', value: '********' },
    { key: 'providers.lab.headers.x', value: '********' },
    { key: 'plugins.disabled', value: [] },
  ]);
  expect(JSON.stringify(content)).not.toMatch(/pw@|sk-1/);
});

test('what lets a project do more is warned of', () => {
  const { warnings } = contentOf('rounds: ${N:-3}\npermissions: { mode: auto }\ntools: { paths: [/etc, /srv] }\nplugins: { disabled: [permissions] }\nproviders: { lab: { base_url: "http://h/v1", api_key: "${LAB_KEY}" } }\n');
  expect(warnings).toEqual([
    'rounds reads your variable N',
    'permissions.mode: auto lets tools write and run without asking',
    'tools.paths lets tools use /etc, /srv',
    'plugins.disabled turns off permissions',
    'providers.lab.base_url: what the model is told goes to http://h/v1',
    'providers.lab.api_key reads your variable LAB_KEY',
  ]);
  expect(contentOf('permissions: { mode: normal }\ntools: { paths: [] }\nmodel: $${x}\n').warnings).toEqual([]);
});

test('the question ends with the warnings, keeps to the width, and cannot steer the terminal', () => {
  const content = contentOf(`permissions: { mode: auto }\nmodel: "a\\e[2Jb"\ntools: { paths: [${Array.from({ length: 12 }, (_, n) => `/folder/number${n}`).join(', ')}] }\n`);
  const question = trustQuestion('~/p/.agent is not trusted', content, ' --cwd ../p', style, 60);
  const lines = question.split('\n');
  expect(lines[0]).toBe('~/p/.agent is not trusted. With trust this takes effect:');
  expect(lines.slice(-2)).toEqual(['  --cwd ../p', 'Trust it?']);
  expect(question).toContain('⚠ permissions.mode: auto');
  expect(printable(question)).toBe(question);
  expect(contentLines(content, style, 60).every((line) => line.length <= 60 || line.includes('["'))).toBe(true);
});

test('a project without configuration has plugins alone', () => {
  at.write('project/.agent/plugins/a.ts', '');
  expect(trustContent(at.project, keys, join(at.paths.cache, 'empty'))).toEqual({ files: 1, plugins: [{ id: 'a', capabilities: undefined, problem: undefined }], settings: [], warnings: [] });
});
