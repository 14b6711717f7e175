/** A chat by lines: from a pipe, where each line is a message, and on a terminal that cannot move its cursor. */
import { configurationError } from 'newt-agent';
import { maxInputBytes } from '../standard-input.ts';
import type { ChatSurface, SurfaceHost } from './chat.ts';

/** See `confirm.ts`. */
const typeAhead = 300;

/** @param isTerminal whether a person types the lines: then they are asked for, and may come while the agent works */
export function lineChat({ io, style }: SurfaceHost, isTerminal: boolean): ChatSurface {
  const { stdin } = io;
  let isBusy = false;
  let answer: { readonly take: (line: string) => void; readonly from: number } | undefined;
  let rest = '';
  let isOver = false;
  let handlers: Parameters<ChatSurface['start']>[0];
  /** Lines of a pipe wait for their turn: it is not read on before. */
  const waiting: string[] = [];
  let continued = '';

  const prompt = (): void => {
    if (isTerminal && !isBusy && !isOver) io.write('> ');
  };
  const onLine = (line: string): void => {
    if (answer) {
      if (performance.now() - answer.from >= typeAhead) answer.take(line);
      return;
    }
    if (isTerminal && line.endsWith('\\')) {
      continued += `${line.slice(0, -1)}\n`;
      return;
    }
    const message = continued + line;
    continued = '';
    if (message.trim()) handlers.onMessage(message);
    else prompt();
  };
  const next = (): void => {
    while (waiting.length > 0 && (isTerminal || !isBusy)) onLine(waiting.shift() ?? '');
    if (waiting.length > 0) return;
    if (!isOver) stdin.resume();
    else if (!isBusy) handlers.onEnd();
  };
  const onData = (chunk: Buffer | string): void => {
    const lines = (rest + chunk.toString()).split(/\r?\n/);
    rest = lines.pop() ?? '';
    if (rest.length > maxInputBytes) return onError(new Error('a line is longer than 10 MB'));
    waiting.push(...lines);
    if (!isTerminal && waiting.length > 0) stdin.pause();
    next();
  };
  const onEnd = (): void => {
    if (isOver) return;
    isOver = true;
    if (rest) waiting.push(rest);
    rest = '';
    answer?.take('');
    next();
  };
  const onError = (error: Error): void => {
    detach();
    handlers.onFailure(configurationError(`standard input cannot be read: ${error.message}`, undefined, { cause: error }));
  };
  const detach = (): void => {
    isOver = true;
    stdin.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onError);
    stdin.on('error', () => undefined);
    stdin.pause();
    stdin.unref?.();
  };

  return {
    surface: io,
    start(given) {
      handlers = given;
      stdin.setEncoding('utf8');
      stdin.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onError);
      if (stdin.readableEnded || stdin.destroyed) return onEnd();
      prompt();
      // A first message may be at work: its lines come after it.
      if (!isTerminal && isBusy) stdin.pause();
    },
    said: () => undefined,
    queued: () => void io.say(style.dim('(the agent gets it with its next round)')),
    forgetQueued: () => undefined,
    working(busy) {
      const was = isBusy;
      isBusy = busy;
      if (!was || busy) return;
      if (isTerminal) io.write('\n');
      prompt();
      next();
    },
    confirm: (question, signal) => {
      if (!isTerminal) return io.confirm(question, signal);
      if (isOver) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        if (signal.aborted) return resolve(undefined);
        const finish = (given: boolean | undefined): void => {
          answer = undefined;
          signal.removeEventListener('abort', stop);
          resolve(given);
        };
        const stop = (): void => finish(undefined);
        io.write(`${question} [y/N] `);
        signal.addEventListener('abort', stop, { once: true });
        answer = { from: performance.now(), take: (line) => finish(/^\s*y(es)?\s*$/i.test(line)) };
      });
    },
    async stop() {
      detach();
      if (isTerminal) io.write('\n');
      await io.flush();
    },
  };
}
