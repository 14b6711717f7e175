/** Thoughts on their way from the stream to the log and back into the conversation. */
import { expect, test } from 'vitest';
import { collectReasoning, reasoningRecord, thoughtAndText } from './reasoning-parts.ts';

const signed = (signature: string) => ({ anthropic: { signature } });

test('marked thoughts are kept whole, with where they were thought; others are not', () => {
  const collector = collectReasoning();
  const take = (part: object, said = 0): void => collector.take(part as Parameters<typeof collector.take>[0], said);
  take({ type: 'reasoning-start', id: '0' });
  take({ type: 'reasoning-delta', id: '0', delta: 'let me ' });
  take({ type: 'text-delta', id: '9', delta: 'x' });
  take({ type: 'reasoning-delta', id: '0', delta: 'see' });
  take({ type: 'reasoning-delta', id: '0', delta: '', providerMetadata: signed('s1') });
  take({ type: 'reasoning-end', id: '0', providerMetadata: { anthropic: { more: 1 } } });
  take({ type: 'reasoning-start', id: '1', providerMetadata: { anthropic: { redactedData: 'r' } } }, 5);
  take({ type: 'reasoning-delta', id: '2', delta: 'unsigned' }, 6);
  // An id may come again.
  take({ type: 'reasoning-start', id: '0' }, 7);
  take({ type: 'reasoning-delta', id: '0', delta: 'again', providerMetadata: signed('s2') }, 7);
  expect(collector.parts()).toEqual([
    { text: 'let me see', provider: { anthropic: { signature: 's1', more: 1 } } },
    { text: '', at: 5, provider: { anthropic: { redactedData: 'r' } } },
    { text: 'again', at: 7, provider: signed('s2') },
  ]);
});

test('a message has each thought where it was thought, and all of the text', () => {
  const provider = signed('s');
  expect(thoughtAndText('one two', [{ text: 'a', provider }, { text: 'b', at: 4, provider }, { text: 'c', at: 99, provider }])).toEqual([
    { type: 'reasoning', text: 'a', providerOptions: provider },
    { type: 'text', text: 'one ' },
    { type: 'reasoning', text: 'b', providerOptions: provider },
    { type: 'text', text: 'two' },
    { type: 'reasoning', text: 'c', providerOptions: provider },
  ]);
  expect(thoughtAndText('', [])).toEqual([]);
  expect(thoughtAndText('only')).toEqual([{ type: 'text', text: 'only' }]);
});

test('the log has a record where something was thought, were it only hidden', () => {
  expect(reasoningRecord({ reasoning: '' })).toBeUndefined();
  expect(reasoningRecord({ reasoning: 'hm' })).toEqual({ text: 'hm' });
  expect(reasoningRecord({ reasoning: '', reasoningParts: [{ text: '', provider: signed('s') }] })).toEqual({ text: '', parts: [{ text: '', provider: signed('s') }] });
});
