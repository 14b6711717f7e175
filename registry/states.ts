/** The states of plugins, in words for people. */
import { type PluginInfo, type Style } from 'newt-agent';

const meanings: Readonly<Record<string, string>> = {
  activated: 'it runs',
  'on demand': 'it is loaded when somebody needs it',
  degraded: 'it runs, and part of it failed lately',
  quarantined: 'it failed and is off, until it changes, its time for another try comes, or agent plugin release',
  refused: 'it was not started: why stands below it',
};

/** What a state means, as the list and the page about a plugin say it. */
export function stateMeaning(name: string): string | undefined {
  return meanings[name];
}

/** What is resolved at a running agent waits for somebody to need it. */
export function stateName({ state }: Pick<PluginInfo, 'state'>): string {
  return state === 'resolved' ? 'on demand' : state;
}

/** A state in the colour of how well it is. */
export function stateStyle({ green, yellow, red, dim }: Style): (state: string) => string {
  const styles: Readonly<Record<string, (text: string) => string>> = { activated: green, degraded: yellow, refused: yellow, quarantined: red };
  return (state) => (styles[state] ?? dim)(state);
}

/** Whether somebody should look at it: what is off by the person's word, or shadowed, is as it should be. */
export function isFaulty({ state, excused }: Pick<PluginInfo, 'state' | 'excused'>): boolean {
  return state === 'quarantined' || state === 'degraded' || (state === 'refused' && !excused);
}
