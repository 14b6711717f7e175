/** The arguments a model writes, and the answer as a message of the conversation. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assistantMessage, parseArguments } from './model-turn.ts';

const nested = (depth: number, open = '{"a":', close = '}', core = '1'): string => open.repeat(depth) + core + close.repeat(depth);

describe('arguments', () => {
  test.each(['', ' ', '\n\t'])('%j means none', (text) => {
    expect(parseArguments(text)).toEqual({ value: {} });
  });

  test.each([
    ['{}', {}],
    ['{"path":"a","n":[1,{"x":null}]}', { path: 'a', n: [1, { x: null }] }],
    [' {"a" : "b"} ', { a: 'b' }],
    ['{"a":"[[[[{{{{"}', { a: '[[[[{{{{' }],
    ['{"a":"\\"{[\\\\"}', { a: '"{[\\' }],
  ])('%s', (text, value) => {
    expect(parseArguments(text)).toEqual({ value });
  });

  test.each(['[]', '1', 'null', '"x"', 'true', '{', '{"a":', '{"a":"', '{"a":"\\', "{'a':1}", '{"a":1}x', '\u0000', '}{', '"'.repeat(1_000)])('%j is a problem', (text) => {
    expect(parseArguments(text)).toEqual({ problem: expect.any(String) });
  });

  test('__proto__ is a name like any other', () => {
    const { value } = parseArguments('{"__proto__":{"polluted":true}}');
    expect(({} as { polluted?: boolean }).polluted).toBe(undefined);
    expect(Object.keys(value as object)).toEqual(['__proto__']);
  });

  test('nesting counts brackets, not those in strings', () => {
    expect(parseArguments(nested(100)).problem).toBe(undefined);
    expect(parseArguments(nested(101)).problem).toContain('nested deeper than 100');
    expect(parseArguments(`{"a":${nested(99, '[', ']')}}`).problem).toBe(undefined);
    expect(parseArguments(`{"a":${nested(100, '[', ']')}}`).problem).toContain('nested deeper');
    expect(parseArguments(nested(1_000_000, '[', '')).problem).toContain('nested deeper');
    expect(parseArguments(JSON.stringify({ a: '{'.repeat(1_000), b: '\\"[['.repeat(100) })).problem).toBe(undefined);
  });

  test('a file of twenty megabytes is read in no time', () => {
    const content = 'é"\\\n{'.repeat(4_000_000);
    const text = JSON.stringify({ content });
    const started = performance.now();
    expect((parseArguments(text).value as { content: string }).content === content).toBe(true);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test('never throw, and are an object or a problem', () => {
    const brackets = fc.array(fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', 'a', '1', '\n', '\ud800'), { maxLength: 300 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), brackets, fc.json()), (text) => {
        const { value, problem } = parseArguments(text);
        expect((value === undefined) !== (problem === undefined)).toBe(true);
        if (value !== undefined) expect(typeof value === 'object' && value !== null && !Array.isArray(value)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('of any object are that object', () => {
    fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (value) => {
      const text = JSON.stringify(value);
      expect(parseArguments(text)).toEqual({ value: JSON.parse(text) as unknown });
    }));
  });
});

test('the message of an answer holds what servers take back', () => {
  const calls = [
    { id: 'c1', name: 'read_file', arguments: '{"path":"a"}' },
    { id: 'c2', name: 'read_file', arguments: '{"path":' },
  ];
  expect(assistantMessage({ text: 'so', calls })).toEqual({
    role: 'assistant',
    content: [
      { type: 'text', text: 'so' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'read_file', input: { path: 'a' } },
      { type: 'tool-call', toolCallId: 'c2', toolName: 'read_file', input: {} },
    ],
  });
  expect(assistantMessage({ text: '', calls: [] })).toEqual({ role: 'assistant', content: [] });
});
