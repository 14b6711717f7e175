#!/usr/bin/env node
// The `agent` command. Plain JavaScript that any Node since 18 can read: it finds a Node that is new
// enough, or says in one line what to do. CommonJS, because Node starts it without loading half of its own modules.
'use strict';
const { existsSync, mkdirSync, readFileSync } = require('node:fs');
const { homedir } = require('node:os');
const { dirname, join } = require('node:path');

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
  const cache = process.env.AGENT_HOME ? join(process.env.AGENT_HOME, 'cache') : join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'agent');
  try {
    mkdirSync(cache, { recursive: true, mode: 0o700 });
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

function run(node) {
  const child = require('node:child_process').spawn(node, [__filename, ...arguments_], { stdio: 'inherit' });
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
