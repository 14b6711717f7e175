/** Model servers on this machine, at the ports they use by default. */
import { endpointAt, type Endpoint, type Fetch } from './endpoints.ts';
import { listModels } from './model-list.ts';

interface LocalServer {
  readonly name: string;
  readonly product: string;
  readonly port: number;
}

export const localServers: readonly LocalServer[] = [
  { name: 'ollama', product: 'Ollama', port: 11434 },
  { name: 'lm-studio', product: 'LM Studio', port: 1234 },
  { name: 'llama-cpp', product: 'llama.cpp', port: 8080 },
  { name: 'vllm', product: 'vLLM', port: 8000 },
];

export interface FoundServer {
  readonly endpoint: Endpoint;
  /** Its first model that can chat. */
  readonly model: string;
}

const probeDeadline = 150;

export function localEndpoint({ name, product, port }: LocalServer): Endpoint {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const endpoint = endpointAt(name, baseUrl, `what answers at ${baseUrl}`);
  return { ...endpoint, label: `${product} at ${baseUrl}`, unreachableHint: `start ${product}` };
}

/** Asks all servers at once, 150 ms at most; of those that answer with a model, the first in the list. */
export async function findLocalServer(fetch: Fetch, servers: readonly LocalServer[] = localServers): Promise<FoundServer | undefined> {
  const found = await Promise.all(
    servers.map(async (server) => {
      const endpoint = localEndpoint(server);
      const models = await listModels(endpoint, fetch, probeDeadline);
      const model = models?.find((id) => !isEmbedding(id));
      return model === undefined ? undefined : { endpoint, model };
    }),
  );
  return found.find((server) => server !== undefined);
}

// LM Studio ships an embedding model and lists it among the others.
function isEmbedding(id: string): boolean {
  return /embed/i.test(id);
}
