import { expect, test } from 'vitest';
import { maskSecrets } from './settings.ts';

const mask = '********';

test.each(['apiKey', 'accessToken', 'apikey', 'api_key', 'credentials', 'pass', 'headers.x'])('what %s holds is masked', (key) => {
  expect(maskSecrets(`providers.lab.${key}`, 'sk-live-1')).toBe(mask);
  expect(maskSecrets('providers', { lab: { [key]: ['sk-live-1'] } })).toEqual({ lab: { [key]: [mask] } });
});

test('what is no secret is shown', () => {
  expect(maskSecrets('providers.lab', { model: 'm', max_tokens: 5, author: 'ada' })).toEqual({ model: 'm', max_tokens: 5, author: 'ada' });
});

test.each([
  ['https://sk-live-1@host/v1', `https://${mask}@host/v1`],
  ['https://sk-live-1:@host/v1', `https://${mask}@host/v1`],
  ['https://me:sk-live-1@host/v1', `https://me:${mask}@host/v1`],
  ['https://me:a@b@host/v1?key=1', `https://me:${mask}@host/v1?${mask}`],
  ['https://host/v1/a@b:c', 'https://host/v1/a@b:c'],
  ['https://host/v1', 'https://host/v1'],
])('%s is shown as %s', (url, shown) => expect(maskSecrets('providers.lab.base_url', url)).toBe(shown));
