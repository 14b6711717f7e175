import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { initConfig, setConfigValue } from './edit.ts';
import { unsetConfigValue } from './unset.ts';
import { composeConfig, configKeys } from './schema.ts';
import { type Config, loadConfig } from './load.ts';

const schema = composeConfig({
  theme: z.string().default('dark').describe('Colours of the output').meta({ from: 'trusted-project' }),
  react: z
    .object({ enabled: z.boolean().default(true), max_rounds: z.number().int().positive().default(50).describe('Rounds before it stops') })
    .prefault({})
    .meta({ from: 'any' }),
  sources: z.record(z.string(), z.object({ url: z.string(), api_key: z.string().optional(), wire: z.enum(['plain', 'packed']).default('plain') })).default({}),
  rules: z.object({ allow: z.array(z.string()).default([]), mode: z.enum(['normal', 'auto']).default('normal').meta({ from: 'user' }) }).prefault({}).meta({ from: 'trusted-project' }),
  limit: z.union([z.number(), z.object({ bytes: z.number() })]).optional(),
  label: z.string().nullable().default(null).meta({ from: 'any' }),
});

let root: string;
let global: string;
let project: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'newt-config-')));
  global = join(root, 'home', 'config.yaml');
  project = join(root, 'repo', '.agent', 'config.yaml');
});

const write = (file: string, text: string): void => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

const load = (options: { env?: NodeJS.ProcessEnv; flags?: Record<string, unknown>; trusted?: boolean } = {}): Promise<Config<z.output<typeof schema>>> =>
  loadConfig({
    schema,
    paths: { global, project, empty: join(root, 'cache', 'empty') },
    projectTrusted: options.trusted ?? true,
    env: options.env ?? {},
    flags: options.flags,
    reserved: ['AGENT_API_KEY'],
  });

const failure = async (options?: Parameters<typeof load>[0]): Promise<string> => {
  try {
    await load(options);
  } catch (error) {
    expect(error).toMatchObject({ name: 'KernelError' });
    return (error as Error).message;
  }
  return 'no failure';
};

describe('layers', () => {
  test('without any source the defaults hold, and nothing is created', async () => {
    const config = await load();
    expect(config.values).toEqual({
      theme: 'dark',
      react: { enabled: true, max_rounds: 50 },
      sources: {},
      rules: { allow: [], mode: 'normal' },
      label: null,
      plugins: { disabled: [], replaces: {}, config: {} },
    });
    expect(config.origin('theme')).toEqual({ layer: 'default' });
    expect(Object.isFrozen(config.values.react)).toBe(true);
    expect(statSync(join(root, 'cache'), { throwIfNoEntry: false })).toBeUndefined();
  });

  test('flags win over environment, project, global and defaults', async () => {
    write(global, 'theme: g\nreact:\n  enabled: false\n  max_rounds: 1\n');
    write(project, '\nreact:\n  max_rounds: 2\ntheme: p\n');
    const env = { AGENT_REACT__MAX_ROUNDS: '3', AGENT_THEME: 'e', UNRELATED: 'x' };
    const config: Config = await load({ env, flags: { theme: 'f', label: undefined } });
    expect(config.values).toMatchObject({ theme: 'f', react: { enabled: false, max_rounds: 3 } });
    expect(config.origin('theme')).toMatchObject({ layer: 'flags' });
    expect(config.origin('react.max_rounds')).toMatchObject({ layer: 'environment', variable: 'AGENT_REACT__MAX_ROUNDS' });
    expect(config.origin('react.enabled')).toMatchObject({ layer: 'global', file: global, line: 3 });
    expect(config.explain('react.max_rounds').map(({ layer, line, value }) => [layer, line, value])).toEqual([
      ['environment', undefined, 3],
      ['project', 3, 2],
      ['global', 4, 1],
    ]);
    expect(config.get('react.max_rounds')).toBe(3);
    expect(config.get('react.nothing')).toBeUndefined();
    expect(config.get('constructor.name')).toBeUndefined();
  });

  test('maps merge by key, lists are replaced', async () => {
    write(global, 'sources:\n  a: { url: one, api_key: x }\nrules: { allow: [a, b] }\n');
    write(project, 'rules: { allow: [c] }\n');
    const config = await load({ env: { AGENT_SOURCES__A__URL: 'two' } });
    expect(config.values.sources).toEqual({ a: { url: 'two', api_key: 'x', wire: 'plain' } });
    expect(config.values.rules.allow).toEqual(['c']);
  });

  test('an empty file, one with comments only, and a key without value set nothing', async () => {
    write(global, '');
    write(project, '# nothing yet\nreact:\nlabel:\n');
    const config = await load();
    expect(config.values.react.max_rounds).toBe(50);
    expect(config.get('label')).toBeNull();
  });

  test('a byte-order mark, CRLF and UTF-16 are accepted', async () => {
    write(global, '\uFEFFtheme: light\r\nreact:\r\n  max_rounds: 7\r\n');
    expect((await load()).values).toMatchObject({ theme: 'light', react: { max_rounds: 7 } });
    writeFileSync(global, Buffer.from('\uFEFFtheme: wide\n', 'utf16le'));
    expect((await load()).values.theme).toBe('wide');
  });
});

describe('environment and flags', () => {
  test('values are YAML where the key wants it, and text where the key is text', async () => {
    const env = { AGENT_RULES__ALLOW: '[a, "b c"]', AGENT_THEME: '12', AGENT_LABEL: 'a # b', AGENT_REACT__ENABLED: 'false', AGENT_LIMIT: '{ bytes: 5 }', AGENT_HOME: '/x', AGENT_API_KEY: 'k' };
    const config = await load({ env, flags: { 'react.max_rounds': '9' } });
    expect(config.values).toMatchObject({ rules: { allow: ['a', 'b c'] }, theme: '12', label: 'a # b', react: { enabled: false, max_rounds: 9 }, limit: { bytes: 5 } });
    expect(config.origin('limit.bytes')).toMatchObject({ layer: 'environment', variable: 'AGENT_LIMIT' });
  });

  test('names the schema does not have are found by what the files call them', async () => {
    write(global, 'sources:\n  my-Lab: { url: one }\nplugins: { config: { code-search: { maxHits: 1 } } }\n');
    const config = await load({ env: { AGENT_SOURCES__MY_LAB__URL: 'two', AGENT_PLUGINS__CONFIG__CODE_SEARCH__MAXHITS: '2', AGENT_SOURCES__OTHER__URL: 'three' } });
    expect(config.values.sources).toMatchObject({ 'my-Lab': { url: 'two' }, other: { url: 'three' } });
    expect(config.values.plugins.config).toEqual({ 'code-search': { maxHits: 2 } });
  });

  test('an empty variable is not set', async () => {
    expect((await load({ env: { AGENT_THEME: '' } })).values.theme).toBe('dark');
  });

  test('a path that leads nowhere is an error, a single name only a notice where it is near', async () => {
    expect(await failure({ env: { AGENT_REACT__MAX_ROUND: '5' } })).toBe('AGENT_REACT__MAX_ROUND: react.max_round: no such key; did you mean AGENT_REACT__MAX_ROUNDS?');
    expect(await failure({ env: { AGENT___PROTO____X: '5' } })).toContain('no such key');
    const config = await load({ env: { AGENT_THEEM: 'x', AGENT_BUILDDIRECTORY: '/opt' } });
    expect(config.ignored).toMatchObject([{ key: 'AGENT_THEEM', variable: 'AGENT_THEEM', value: 'x', why: 'no such key; did you mean AGENT_THEME?' }]);
  });

  test('what is wrong is named by variable or command line', async () => {
    expect(await failure({ env: { AGENT_REACT__MAX_ROUNDS: 'many' } })).toBe('AGENT_REACT__MAX_ROUNDS: react.max_rounds: expected a number, found "many"');
    expect(await failure({ env: { AGENT_REACT: '{ max_ronds: 1 }' } })).toBe('AGENT_REACT: react.max_ronds: no such key; did you mean "max_rounds"?');
    expect(await failure({ flags: { 'react.max_ronds': '1' } })).toBe('command line: react.max_ronds: no such key; did you mean "max_rounds"?');
    expect(await failure({ flags: { 'react.max_rounds': 0 } })).toBe('command line: react.max_rounds: expected a number above 0, found 0');
  });
});

describe('problems in a file', () => {
  test.each([
    ['a: [', /config\.yaml:1:5: not valid YAML/],
    ['theme: a\ntheme: b\n', /config\.yaml:2:1: not valid YAML: Map keys must be unique/],
    ['theme: !!js/function x\n', /config\.yaml:1:8: not valid YAML/],
    ['theme: &a x\nlabel: *a\n', /config\.yaml:2:8: not valid YAML: aliases are not supported/],
    ['- a\n', /config\.yaml:1:1: not valid YAML: expected keys with values/],
    ['just text', /config\.yaml:1:1: not valid YAML: expected keys with values/],
    ['theme: a\n---\ntheme: b\n', /config\.yaml:\d:1: not valid YAML/],
    ['theme: dark\nreact:\n  max_ronds: 3\n', /config\.yaml:3: react\.max_ronds: no such key; did you mean "max_rounds"\?$/],
    ['raect: 1\nthemes: 2\nzzzzzz: 3\n', /config\.yaml:1: raect: no such key; did you mean "react"\? \(and 2 more problems\)$/],
    ['sources:\n  a:\n    url: x\n    apikey: y\n', /config\.yaml:4: sources\.a\.apikey: no such key; did you mean "api_key"\?$/],
    ['react:\n  max_rounds: many\n', /config\.yaml:2: react\.max_rounds: expected a number, found "many"$/],
    ['react: 5\n', /config\.yaml:1: react: expected keys and values, found 5$/],
    ['react: [1]\n', /config\.yaml:1: react: expected keys and values, found a list$/],
    ['theme:\n  a: 1\n', /config\.yaml:1: theme: expected a text, found keys and values$/],
    ['sources:\n  a:\n    wire: packd\n', /config\.yaml:2: sources\.a\.url: expected a text, found nothing \(and 1 more problem\)$/],
    ['sources:\n  a:\n    url: x\n    wire: packd\n', /config\.yaml:4: sources\.a\.wire: expected one of "plain"\|"packed", found "packd"$/],
    ['sources:\n  a:\n    url: x\n    api_key: 1234\n', /config\.yaml:4: sources\.a\.api_key: expected a text, found a number$/],
    ['limit: x\n', /config\.yaml:1: limit: expected a number or expected keys and values, found "x"$/],
    ['limit:\n  bytes: x\n', /config\.yaml:2: limit\.bytes: expected a number, found "x"$/],
    ['rules:\n  allow:\n    - a\n    - 2\n', /config\.yaml:4: rules\.allow\.1: expected a text, found 2$/],
    ['plugins:\n  disable: [a]\n', /config\.yaml:2: plugins\.disable: no such key; did you mean "disabled"\?$/],
    ['$import: other.yaml\n', /config\.yaml:1: \$import: no such key$/],
    ['__proto__:\n  polluted: 1\n', /config\.yaml:1: __proto__: no such key$/],
    ['constructor: 1\n', /config\.yaml:1: constructor: no such key$/],
    ['plugins:\n  config:\n    a:\n      __proto__: { polluted: 1 }\n', /config\.yaml:4: plugins\.config\.a\.__proto__: no such key$/],
    ['sources:\n  __proto__: { url: x }\n', /config\.yaml:2: sources\.__proto__: no such key$/],
  ])('%j', async (text, message) => {
    write(global, text);
    expect(await failure()).toMatch(message);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test('an untrusted file cannot bring YAML 1.1 or its types along', async () => {
    write(global, '%YAML 1.1\n---\ntheme: yes\n');
    expect((await load()).values.theme).toBe('yes');
  });

  test('what is no readable file is said to be none', async () => {
    mkdirSync(global, { recursive: true });
    expect(await failure()).toBe(`${global}: cannot be read: it is not a file`);
    rmSync(global, { recursive: true });
    write(global, `theme: ${'x'.repeat(1_000_001)}`);
    expect(await failure()).toContain('larger than');
    rmSync(global);
    symlinkSync(global, global);
    expect(await failure()).toContain('cannot be read: ELOOP');
    rmSync(global);
    write(global, `theme: ${'['.repeat(200_000)}`);
    expect(await failure()).toContain(global);
  });
});

describe('variables', () => {
  test('are expanded, with a default where unset or empty, and as what the key wants where unquoted', async () => {
    write(global, 'sources:\n  a: { url: "http://${HOST:-localhost}:${PORT}", api_key: "${KEY}" }\nreact:\n  enabled: ${ON}\n  max_rounds: "${ROUNDS:-5}"\nplugins:\n  config:\n    a:\n      - ${PORT}\n      - "${PORT}"\nlabel: "$${HOST}"\ntheme: ${EMPTY:-bright}\n');
    const config = await load({ env: { PORT: '80', ON: 'false', KEY: '007', EMPTY: '' } });
    expect(config.values).toMatchObject({ sources: { a: { url: 'http://localhost:80', api_key: '007' } }, react: { enabled: false, max_rounds: 5 }, plugins: { config: { a: [80, '80'] } }, label: '${HOST}', theme: 'bright' });
    expect(config.variables).toEqual(['HOST', 'PORT', 'KEY', 'ON', 'ROUNDS', 'EMPTY']);
  });

  test('one that is unset is an error that names file, line, key and variable', async () => {
    write(global, 'label: b\ntheme: ${THEME}\n');
    expect(await failure()).toBe(`${global}:2: theme: the variable THEME is not set`);
  });

  test('one that is unset leaves out the one source that reads it, and keeps the others', async () => {
    write(global, 'sources:\n  a:\n    url: ${LAB_URL}\n  b:\n    url: http://b\n');
    const config = await load();
    expect(config.values).toMatchObject({ sources: { b: { url: 'http://b' } } });
    expect(Object.keys((config.values as { sources: object }).sources)).toEqual(['b']);
    expect(config.ignored).toMatchObject([{ key: 'sources.a', file: global, line: 2, why: 'the variable LAB_URL is not set' }]);
  });

  test('its value cannot add keys', async () => {
    write(global, 'plugins:\n  config:\n    a: ${X}\n');
    expect((await load({ env: { X: '{ __proto__: { polluted: 1 } }' } })).values.plugins.config).toEqual({ a: '{ __proto__: { polluted: 1 } }' });
  });
});

describe('trust', () => {
  const text = 'theme: p\nreact:\n  max_rounds: 3\nlabel: ${SECRET}\nsources:\n  x: { url: evil }\nrules:\n  mode: auto\n  allow: [a]\nplugins:\n  replaces: { files: evil }\n  disabled: [a]\n  config: { a: { b: 1 } }\n';
  const env = { SECRET: 's' };

  test('a project sets what is open to any; the rest is listed with line and reason', async () => {
    write(project, text);
    const { values, ignored } = await load({ trusted: false, env });
    expect(values).toMatchObject({ theme: 'dark', react: { max_rounds: 3 }, label: null, sources: {}, rules: { allow: [], mode: 'normal' }, plugins: { disabled: [], replaces: {}, config: {} } });
    expect(ignored.map(({ key, line, why }) => `${line} ${key}: ${why}`)).toEqual([
      '1 theme: the project is not trusted',
      '4 label: ${…} is not expanded before the project is trusted',
      '5 sources: only the person may set it, not a project',
      '8 rules.mode: only the person may set it, not a project',
      '9 rules.allow: the project is not trusted',
      '11 plugins.replaces: only the person may set it, not a project',
      '12 plugins.disabled: the project is not trusted',
      '13 plugins.config: the project is not trusted',
    ]);
    expect(ignored.every(({ file }) => file === project)).toBe(true);
  });

  test('a project file stays a project\'s however its path is written', async () => {
    write(project, text);
    const crooked = `${root}/repo/../repo/.agent/./config.yaml`;
    const { values } = await loadConfig({ schema, paths: { global, project: crooked, empty: join(root, 'empty') }, projectTrusted: false, env });
    expect(values).toMatchObject({ theme: 'dark', sources: {} });
  });

  test('a trusted project never sets the person\'s own keys', async () => {
    write(project, text);
    const { values, ignored } = await load({ trusted: true, env });
    expect(values).toMatchObject({ theme: 'p', label: 's', rules: { allow: ['a'], mode: 'normal' }, plugins: { disabled: ['a'], replaces: {}, config: { a: { b: 1 } } } });
    expect(ignored.map(({ key }) => key)).toEqual(['sources', 'rules.mode', 'plugins.replaces']);
  });

  test('a variable in a key that is ignored anyway is no error', async () => {
    write(project, 'sources: { a: { url: "${NOT_SET}" } }\nlabel: ["${NOT_SET}"]\n');
    const { ignored } = await load({ trusted: false });
    expect(ignored.map(({ key }) => key)).toEqual(['sources', 'label']);
  });

  test('keys that are ignored must still exist', async () => {
    write(project, 'sources:\n  a:\n    urll: x\n');
    expect(await failure({ trusted: false })).toContain(`${project}:3: sources.a.urll: no such key`);
  });

  test('the person\'s own file may set everything', async () => {
    write(global, text);
    const { values, ignored } = await load({ trusted: false, env });
    expect(values).toMatchObject({ theme: 'p', rules: { mode: 'auto' }, plugins: { replaces: { files: 'evil' } } });
    expect(ignored).toEqual([]);
  });
});

describe('editing', () => {
  const read = (): string => readFileSync(global, 'utf8');

  test('a file and its folder are made for the person only', async () => {
    setConfigValue(schema, global, 'react.max_rounds', '5');
    expect(read()).toBe('react:\n  max_rounds: 5\n');
    expect(statSync(global).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(global)).mode & 0o777).toBe(0o700);
    expect((await load()).values.react.max_rounds).toBe(5);
  });

  test('comments and order stay', () => {
    write(global, '# mine\n\ntheme: "dark" # at night\nreact: # loop\n  # not too many\n  max_rounds: 5 # was 50\n\nlabel: x\n');
    setConfigValue(schema, global, 'react.max_rounds', '6');
    setConfigValue(schema, global, 'theme', '12');
    setConfigValue(schema, global, 'react.enabled', 'false');
    setConfigValue(schema, global, 'rules.allow', '[a, b]');
    expect(read()).toBe('# mine\n\ntheme: "12" # at night\nreact:\n  # loop\n  # not too many\n  max_rounds: 6 # was 50\n  enabled: false\n\nlabel: x\nrules:\n  allow:\n    - a\n    - b\n');
    setConfigValue(schema, global, 'rules.allow.1', 'c');
    expect(read()).toContain('- a\n    - c\n');
  });

  test('removing a key leaves the others, removing what is not there changes nothing', () => {
    write(global, '# mine\n\ntheme: dark\nlabel: x\nbogus: 1\n');
    unsetConfigValue(global, 'theme');
    unsetConfigValue(global, 'react.enabled');
    unsetConfigValue(global, 'bogus');
    expect(read()).toBe('# mine\n\nlabel: x\n');
  });

  test('a change that adds a problem is refused and writes nothing', () => {
    write(global, 'theme: dark\n');
    const set = (key: string, text: string) => (): void => setConfigValue(schema, global, key, text);
    expect(set('raect.enabled', 'true')).toThrow('raect: no such key; did you mean "react"?');
    expect(set('react.max_ronds', '1')).toThrow(/^react\.max_ronds: no such key; did you mean "react\.max_rounds"\?$/);
    expect(set('react.max_rounds', 'many')).toThrow(/^react\.max_rounds: expected a number/);
    expect(set('sources.a.wire', 'packed')).toThrow('sources.a.url: expected a text');
    expect(set('theme.a', 'x')).toThrow('theme.a: no such key');
    expect(set('__proto__.polluted', 'x')).toThrow('__proto__: no such key');
    expect(set('sources', '{ __proto__: { url: x } }')).toThrow('no such key');
    expect(read()).toBe('theme: dark\n');
  });

  test('one problem of a file can be repaired while another remains', () => {
    write(global, 'react: { max_rounds: many }\nlimit: x\n');
    setConfigValue(schema, global, 'react.max_rounds', '5');
    expect(read()).toBe('react: { max_rounds: 5 }\nlimit: x\n');
  });

  test('a variable is written as it is, and a key without value can be filled', () => {
    write(global, 'react:\n');
    setConfigValue(schema, global, 'react.max_rounds', '${ROUNDS}');
    setConfigValue(schema, global, 'sources', '{ lab: { url: "${LAB_URL}" } }');
    expect(read()).toBe('react:\n  max_rounds: ${ROUNDS}\nsources:\n  lab:\n    url: ${LAB_URL}\n');
  });

  test('a file that is a link stays one', () => {
    const target = join(root, 'dotfiles', 'agent.yaml');
    write(target, 'theme: dark\n');
    mkdirSync(dirname(global));
    symlinkSync(target, global);
    setConfigValue(schema, global, 'theme', 'light');
    expect(readFileSync(target, 'utf8')).toBe('theme: light\n');
  });

  test('a starter file names every key, sets none, and can be filled in', async () => {
    initConfig(schema, global);
    expect(read()).toContain('\n\n# theme: "dark"  # Colours of the output\n\n# react:\n#   enabled: true\n#   max_rounds: 50  # Rounds before it stops\n\n# sources: {}\n');
    expect((await load()).origin('theme')).toEqual({ layer: 'default' });
    expect(() => initConfig(schema, global)).toThrow('exists');
    const starter = read();
    setConfigValue(schema, global, 'theme', 'light');
    expect(read()).toBe(`${starter}\ntheme: light\n`);
    writeFileSync(global, starter.replaceAll(/^# (?=[ a-z]+:)/gm, ''));
    expect((await load()).values).toEqual((await loadConfig({ schema, paths: { global: '/none', empty: root }, projectTrusted: false, env: {} })).values);
  });
});

test('the list of keys has defaults, descriptions and who may set them', () => {
  const keys = configKeys(schema);
  expect(keys.map(({ key }) => key)).toEqual(['theme', 'react.enabled', 'react.max_rounds', 'sources', 'rules.allow', 'rules.mode', 'limit', 'label', 'plugins.disabled', 'plugins.replaces', 'plugins.config']);
  expect(keys[2]).toEqual({ key: 'react.max_rounds', default: 50, description: 'Rounds before it stops', from: 'any' });
  expect(keys.find(({ key }) => key === 'rules.allow')?.from).toBe('trusted-project');
  expect(keys.find(({ key }) => key === 'rules.mode')?.from).toBe('user');
  expect(keys.find(({ key }) => key === 'plugins.replaces')).toMatchObject({ from: 'user', default: {} });
});

test('the kernel\'s own part cannot be taken', () => {
  expect(() => composeConfig({ plugins: z.string() })).toThrow('plugins');
});

test('the folder the files are read from is left again, also where one of them is wrong', async () => {
  const cwd = process.cwd();
  write(global, 'theme: [');
  await failure();
  expect(process.cwd()).toBe(cwd);
  expect(readdirSync(join(root, 'cache'))).toEqual([]);
});

test('a current folder that is gone is said so', async () => {
  const cwd = process.cwd();
  const gone = join(root, 'gone');
  mkdirSync(gone);
  write(global, 'theme: x');
  process.chdir(gone);
  rmSync(gone, { recursive: true });
  try {
    expect(await failure()).toContain('the current folder is gone');
  } finally {
    process.chdir(cwd);
  }
});
