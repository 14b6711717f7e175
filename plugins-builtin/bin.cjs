#!/usr/bin/env node
// The `agent` command. Plain JavaScript that any Node since 18 can read: it finds a Node that is new
// enough, or says in one line what to do. CommonJS, because Node starts it without loading half of its own modules.
'use strict';
const { existsSync, mkdirSync, readFileSync } = require('node:fs');
const { userInfo } = require('node:os');
const { dirname, isAbsolute, join } = require('node:path');

const root = dirname(__dirname);
const [major, minor] = process.versions.node.split('.').map(Number);
const arguments_ = process.argv.slice(2);

if (arguments_.length === 1 && ['--version', '-V'].includes(arguments_[0])) {
  console.log(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version);
} else if (major < 22 || (major === 22 && minor < 18)) {
  const bundled = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(bundled)) run(bundled);
  else {
    console.error(`agent needs Node 22.18 or newer, this is ${process.versions.node}: install a newer Node, or run "npm install" in ${root}`);
    process.exitCode = 2;
  }
} else {
  try {
    const cache = cacheFolder();
    makeFolder(cache);
    require('node:module').enableCompileCache?.(join(cache, 'compiled'));
  } catch {
    // Without a cache it starts more slowly.
  }
  // What fails there ends the process as it would if it were the entry.
  if (existsSync(join(root, 'dist', 'main.js'))) import('../dist/main.js');
  else {
    console.error(`agent is not built yet: run "npm ci" in ${root}`);
    process.exitCode = 2;
  }
}

/** As `kernel/paths.ts` has it: never a folder that depends on the current one, whose code would be anybody's. */
function cacheFolder() {
  const { AGENT_HOME, HOME, XDG_CACHE_HOME } = process.env;
  if (AGENT_HOME && isAbsolute(AGENT_HOME)) return join(AGENT_HOME, 'cache');
  if (XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME)) return join(XDG_CACHE_HOME, 'agent');
  const home = HOME && isAbsolute(HOME) ? HOME : userInfo().homedir;
  if (!isAbsolute(home)) throw new Error('no home folder');
  return join(home, '.cache', 'agent');
}

/** Not by Node's own recursion, which never ends below /proc. */
function makeFolder(folder) {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

function run(node) {
  // The pipe tells the agent when this process is gone, however it went: see command.ts.
  const child = require('node:child_process').spawn(node, [__filename, ...arguments_], { stdio: ['inherit', 'inherit', 'inherit', 'pipe'], env: { ...process.env, AGENT_TETHER: '3' } });
  // A terminal sends Ctrl-C to both: the agent decides what it means, and we wait for it.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`agent: ${node} cannot be started: ${error.message}`);
    process.exitCode = 2;
  });
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exitCode = code ?? 1;
  });
}
