/** What a person at a terminal sees of an installation, and answers. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type InstallPlace, openInstallPlace } from '../support/install-place.ts';
import { pluginPublication } from '../support/npm-registry.ts';
import { hasPseudoTerminals, openPseudoTerminal } from '../support/pseudo-terminal.ts';

// Each of these starts many processes, one after the other.
vi.setConfig({ testTimeout: 180_000 });

let at: InstallPlace;
beforeEach(async () => {
  at = await openInstallPlace();
  at.registry.publish({ name: 'needed-thing', manifest: { scripts: { postinstall: 'exit 1' } } }, pluginPublication('agent-plugin-seen', 'seen', { agent: { capabilities: ['exec', 'env:SEEN_KEY'] }, manifest: { dependencies: { 'needed-thing': '*' } } }));
});
afterEach(() => at[Symbol.asyncDispose]());

/** What is typed before a person could have read the question is no answer to it. */
const typeAheadIsOver = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 400));

describe.skipIf(!hasPseudoTerminals)('on a terminal', () => {
  it('the plan is shown, each concern is asked about, then the whole', async () => {
    await using terminal = openPseudoTerminal(at.place, ['plugin', 'add', 'agent-plugin-seen'], { columns: 80 });
    await terminal.see('Accept what is said of scripts? [y/N]');
    const screen = terminal.screen();
    for (const part of ['This installs the plugin seen:', 'exec (run programs), env:SEEN_KEY (read the variable SEEN_KEY)', '2 packages', 'could not be verified', '⚠ scripts: install scripts of needed-thing 1.0.0 (postinstall) never run', 'not a sandbox']) expect(screen.replace(/\s+/g, ' ')).toContain(part);
    expect(screen).not.toMatch(/Fetching|Working out/);
    await typeAheadIsOver();
    terminal.keys('y\r');
    await terminal.see('Add seen? [y/N]');
    await typeAheadIsOver();
    terminal.keys('y\r');
    expect((await terminal.ended).code).toBe(0);
    expect(terminal.screen()).toContain('Added seen 1.0.0');
    expect(Object.keys(at.entries())).toEqual(['seen']);
  });

  it('a no changes nothing, and Ctrl-C at the question neither', async () => {
    await using terminal = openPseudoTerminal(at.place, ['plugin', 'add', 'agent-plugin-seen', '--accept', 'scripts'], { columns: 60 });
    await terminal.see('Add seen? [y/N]');
    await typeAheadIsOver();
    terminal.keys('n\r');
    expect((await terminal.ended).code).toBe(1);
    await using second = openPseudoTerminal(at.place, ['plugin', 'add', 'agent-plugin-seen', '--accept', 'scripts']);
    await second.see('Add seen? [y/N]');
    await typeAheadIsOver();
    second.keys('\x03');
    expect((await second.ended).code).toBe(130);
    expect(second.screen()).toContain('Cancelled: nothing was changed.');
    expect(at.leftovers()).toEqual([]);
  });
});
