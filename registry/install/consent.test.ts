import type { CommandIO } from 'newt-agent';
import { describe, expect, it } from 'vitest';
import { askConsent, readConsent } from './consent.ts';
import type { Concern } from './policy.ts';

const concerns: Concern[] = [
  { name: 'young', text: 'it is young' },
  { name: 'scripts', text: 'it has scripts' },
];
const { signal } = new AbortController();

function asked(answers: readonly (boolean | undefined)[]): { io: CommandIO; questions: string[] } {
  const questions: string[] = [];
  const io = { confirm: async (question: string) => answers[questions.push(question) - 1] } as unknown as CommandIO;
  return { io, questions };
}

describe('consent', () => {
  it('is asked for each concern, then for the whole', async () => {
    const { io, questions } = asked([true, true, true]);
    expect(await askConsent('Add x?', concerns, { yes: false, accept: [] }, io, signal)).toEqual(['young', 'scripts']);
    expect(questions).toEqual(['Accept what is said of young?', 'Accept what is said of scripts?', 'Add x?']);
  });

  it('is not asked for what was accepted by name', async () => {
    const { io, questions } = asked([true, true]);
    expect(await askConsent('Add x?', concerns, readConsent({ accept: 'young' }), io, signal)).toBeDefined();
    expect(questions).toEqual(['Accept what is said of scripts?', 'Add x?']);
  });

  it('ends with the first no', async () => {
    const { io, questions } = asked([true, false]);
    expect(await askConsent('Add x?', concerns, { yes: false, accept: [] }, io, signal)).toBeUndefined();
    expect(questions).toHaveLength(2);
  });

  it('is not given by --yes alone, nor where nobody can be asked', async () => {
    await expect(askConsent('Add x?', concerns, { yes: true, accept: ['young'] }, asked([]).io, signal)).rejects.toMatchObject({ details: { hint: expect.stringContaining('--accept young,scripts') } });
    await expect(askConsent('Add x?', concerns, { yes: false, accept: [] }, asked([undefined]).io, signal)).rejects.toMatchObject({ details: { hint: expect.stringContaining('--yes --accept young,scripts') } });
    await expect(askConsent('Add x?', [], { yes: false, accept: [] }, asked([undefined]).io, signal)).rejects.toThrow('nobody can be asked');
    expect(await askConsent('Add x?', concerns, { yes: true, accept: ['young', 'scripts'] }, asked([]).io, signal)).toEqual(['young', 'scripts']);
  });

  it('knows its words', () => {
    expect(() => readConsent({ accept: 'young,all' })).toThrow('--accept all: there is no such concern');
    expect(readConsent({ accept: ' young , size ', yes: true })).toEqual({ yes: true, accept: ['young', 'size'] });
  });
});
