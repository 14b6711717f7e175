/** The modes of the person's terminal, and who puts them back when the agent dies without doing so. */
import { type Disposable, defineService, isKernelError, type PluginContext } from '../../../kernel/index.ts';

export interface TerminalModes {
  /**
   * Call it before you change a mode of the terminal of the standard streams: raw mode, bracketed paste, a hidden cursor,
   * the alternate screen, keyboard protocols, mouse reports. Should the process end in whatever way before the
   * answer is disposed, the terminal is as it was now. Dispose it after you have put the modes back yourself. Calls may overlap.
   */
  changing(): Disposable;
}

/** Provided after the activation event `onTerminal`; not there where the plugin `shell` is off. */
export const terminalModes = defineService<TerminalModes>('agent.terminal-modes');

/** {@link TerminalModes.changing}, once somebody is up who does it; where nobody is, the terminal is on its own. */
export async function changingTerminal(p: Pick<PluginContext, 'activate' | 'use'>): Promise<Disposable> {
  await p.activate('onTerminal');
  try {
    return p.use(terminalModes).changing();
  } catch (error) {
    if (isKernelError(error) && error.code === 'NO_SERVICE') return { dispose: () => undefined };
    throw error;
  }
}
