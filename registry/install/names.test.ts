import { expect, it } from 'vitest';
import { mistakenFor } from './names.ts';

const firstParty = ['git', 'mcp-gateway', '@newt/mcp-gateway'];

it.each([
  ['lodahs', 'lodash'],
  ['expres', 'express'],
  ['typescritp', 'typescript'],
  ['mcp-gatewai', 'mcp-gateway'],
  ['newt-agnet', 'newt-agent'],
  ['@newt/mcp-gatevay', '@newt/mcp-gateway'],
])('%s could be meant for %s', (name, known) => {
  expect(mistakenFor(name, firstParty, false)).toBe(known);
});

it.each(['lodash', 'git', 'mcp-gateway', 'letters', 'ws', 'gti', 'agent-plugin-weather'])('%s could not', (name) => {
  expect(mistakenFor(name, firstParty, false)).toBeUndefined();
});

it('is looked at more closely where a person typed it', () => {
  expect(mistakenFor('lodsh-', firstParty, false)).toBeUndefined();
  expect(mistakenFor('lodsh-', firstParty, true)).toBe('lodash');
});
