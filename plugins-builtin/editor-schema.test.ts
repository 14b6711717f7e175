/** The schema that editors get: valid, and of one mind with what reads the configuration. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { initConfig } from '../kernel/config/edit.ts';
import { loadConfig } from '../kernel/config/load.ts';
import { composeConfig } from '../kernel/config/schema.ts';
import { temporaryFolder } from '../test/support/boot.ts';
import { configParts } from './builtins.ts';
import { editorSchema, schemaLine, writeSchema } from './editor-schema.ts';

const schema = composeConfig(configParts);

function validator(plugins?: Record<string, object>) {
  // Formats are for the editor, which knows them.
  return new Ajv({ strict: true, strictTypes: false, validateFormats: false, allowUnionTypes: true }).compile(editorSchema(schema, plugins));
}

test('it is JSON Schema of draft 7, and says so', () => {
  const made = editorSchema(schema);
  expect(made['$schema']).toBe('http://json-schema.org/draft-07/schema#');
  const ajv = new Ajv();
  expect(ajv.validateSchema(made), JSON.stringify(ajv.errors)).toBe(true);
  expect(JSON.stringify(made)).not.toContain('"from"');
});

const folder = temporaryFolder();

test.each([
  ['model: a/b\ntemperature: 0.5\nreact: { max_rounds: 7 }\n', true],
  ['providers: { lab: { base_url: "http://h/v1", api_key: "${KEY}" } }\n', true],
  ['react:\n  max_rounds: ${ROUNDS:-5}\n', true],
  ['permissions: { mode: auto }\ntools: { timeout: 5, paths: [/x] }\n', true],
  ['plugins: { disabled: [a], config: { a: { b: 1 } } }\n', true],
  ['react: { max_round: 7 }\n', false],
  ['modle: a\n', false],
  ['react: { max_rounds: many }\n', false],
  ['react: { max_rounds: -1 }\n', false],
  ['permissions: { mode: yolo }\n', false],
  ['providers: { lab: { base_url: "http://h/v1", wire: smoke } }\n', false],
  ['providers: { lab: { api_key: k } }\n', false],
])('it judges %j as the agent does', async (text, isRight) => {
  const global = join(folder, 'config.yaml');
  writeFileSync(global, text);
  const loaded = await loadConfig({ schema, paths: { global, empty: join(folder, 'empty') }, projectTrusted: false, env: { KEY: 'k' } }).then(() => true, () => false);
  expect(loaded).toBe(isRight);
  expect(validator()(parse(text)), text).toBe(isRight);
});

test('what plugins say of their settings is in it, and what they refer to is found', () => {
  const part = { type: 'object', properties: { level: { $ref: '#/$defs/level' }, away: { $ref: 'https://elsewhere/x.json' } }, additionalProperties: false, $defs: { level: { enum: ['low', 'high'] } }, $id: 'x', $schema: 'https://json-schema.org/draft/2020-12/schema' };
  const isValid = validator({ dots: part });
  expect(isValid({ plugins: { config: { dots: { level: 'low', away: 1 }, unknown: { x: 1 } } } }), JSON.stringify(isValid.errors)).toBe(true);
  expect(isValid({ plugins: { config: { dots: { level: 'lo' } } } })).toBe(false);
  expect(isValid({ plugins: { config: { dots: { levle: 'low' } } } })).toBe(false);
});

test('the starter file refers to the schema beside it, and is right once its lines count', () => {
  const root = temporaryFolder();
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const file = join(root, 'config.yaml');
  initConfig(schema, file, [schemaLine]);
  expect(writeSchema(schema, file)).toBe(join(root, 'config.schema.json'));
  const [line = '', ...rest] = readFileSync(file, 'utf8').split('\n');
  const [, place = ''] = /^# yaml-language-server: \$schema=(\S+)$/.exec(line) ?? [];
  const isValid = new Ajv({ strict: false, validateFormats: false }).compile(JSON.parse(readFileSync(join(root, place), 'utf8')) as object);
  const settings = parse(rest.slice(1).map((text) => text.replace(/^# /, '')).join('\n')) as object;
  // A key without a value is one not set.
  const set = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
  expect(isValid(set), JSON.stringify(isValid.errors)).toBe(true);
});
