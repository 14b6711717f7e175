import { expect, test } from 'vitest';
import { closest } from './closest.ts';

test('what contains the name comes first, then the nearest in spelling', () => {
  expect(closest('qwen3', ['llama3', 'qwen3:8b', 'qwen3-coder'])).toEqual(['qwen3:8b', 'qwen3-coder']);
  expect(closest('qwen3', ['llama3', 'qwen3:8b', 'qwen3-coder'], 1)).toEqual(['qwen3:8b']);
  expect(closest('READ', ['raed', 'read_file'])).toEqual(['read_file']);
  expect(closest('gpt-4o-mnii', ['gpt-4o-mini', 'whisper'])).toEqual(['gpt-4o-mini']);
  expect(closest('lab', ['openai'])).toEqual([]);
});
