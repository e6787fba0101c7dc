import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { answers, choosePort } from '../services/ports.mjs';
import { Finding } from './finding.mjs';

/** @param {string} path */
export function checkConfig(path) {
  if (!existsSync(path)) throw new Finding(`there is no ${path}`, 'write a langgraph.json, or set GANTRY_CONFIG to it');
  let config;
  try {
    config = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Finding(`${path}: ${error.message}`, 'correct the JSON');
  }
  const graphs = Object.entries(config.graphs ?? {});
  if (graphs.length === 0) {
    throw new Finding(`${path} declares no graphs`, 'add "graphs": {"agent": "./agent.ts:graph"}');
  }
  for (const [id, graph] of graphs) {
    const spec = typeof graph === 'string' ? graph : graph?.path;
    const [, file] = /^(.+):[^:]+$/.exec(String(spec)) ?? [];
    if (!file) {
      throw new Finding(`${path}: graph "${id}" is ${JSON.stringify(spec)}`, 'write it as "./file.ts:exportedName"');
    }
    if (!existsSync(resolve(dirname(path), file))) {
      throw new Finding(`${path}: graph "${id}" names ${file}, which does not exist`, 'correct the path');
    }
  }
  return `${path}: ${graphs.map(([id]) => id).join(', ')}`;
}

/**
 * @param {import('../services/settings.mjs').Settings} settings
 * @param {any} endpoints
 */
export async function checkPorts(settings, endpoints) {
  if (endpoints) {
    const parts = { api: endpoints.api, temporal_ui: endpoints.temporal_ui, s3: endpoints.s3?.endpoint };
    const silent = [];
    for (const [name, url] of Object.entries(parts)) {
      if (!url) continue;
      const { hostname, port, protocol } = new URL(url);
      const usualPort = protocol === 'https:' ? 443 : 80;
      if (!(await answers(Number(port || usualPort), hostname.replace(/^\[|\]$/g, ''))))
        silent.push(`${name} (${url})`);
    }
    if (silent.length === 0) return 'every part answers at its address';
    throw new Finding(`nothing answers for ${silent.join(', ')}`, `look into ${join(settings.home, 'logs')}`);
  }
  const request = { setting: 'GANTRY_PORT', host: settings.host, wanted: settings.port, usual: 2024, strict: true };
  try {
    await choosePort(request);
  } catch (error) {
    throw new Finding(error.message, 'then npm start');
  }
  return `port ${settings.port ?? 2024} is free for the API`;
}
