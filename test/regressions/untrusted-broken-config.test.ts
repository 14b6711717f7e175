/** A repository with a broken `.agent/config.yaml` kept the agent from working in its folder at all. */
import { afterEach, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';

let place: Place;
afterEach(() => place.remove());

test.each(['react: [', 'nonsense: 1\n', 'react: { max_rounds: many }\n'])('%j is left out while it is untrusted', async (text) => {
  place = createPlace();
  place.write({ '.agent/config.yaml': text });
  const list = await place.agent(['plugin', 'list', '--json']);
  expect(list.code).toBe(0);
  expect(JSON.parse(list.stdout)).toBeInstanceOf(Array);
});
