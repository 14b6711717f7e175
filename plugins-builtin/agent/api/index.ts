/** The agent domain: hooks, contribution points, services and the event log. */
export * from './checks.ts';
export * from './closest.ts';
export * from './commands.ts';
export * from './event-reader.ts';
export * from './events.ts';
export * from './failures.ts';
export * from './hooks.ts';
export * from './programs.ts';
export * from './providers.ts';
export * from './sessions.ts';
export * from './settings.ts';
export * from './signals.ts';
export * from './terminal-modes.ts';
export * from './text.ts';
export * from './tools.ts';
