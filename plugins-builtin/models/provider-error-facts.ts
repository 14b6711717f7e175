/** What an error of the AI SDK, of `fetch` or in a stream tells, in one shape. */
import { isOperational, oneLine } from 'newt-agent';
import { ownErrorType } from './mended-stream.ts';

export interface Facts {
  /** HTTP status; of an error in a stream, its numeric code. */
  readonly status: number | undefined;
  /** Code of the system or of undici, such as `ECONNREFUSED`. */
  readonly code: string | undefined;
  /** True when no answer came at all. */
  readonly network: boolean;
  /** Type of an error frame made in `chat-frames.ts`. */
  readonly own: string | undefined;
  /** True when a web page came in place of an answer. */
  readonly page: boolean;
  /** The server's own words, redacted, one line. */
  readonly says: string;
  /** What it says, its error code and its error type, for classification only: not redacted. */
  readonly words: string;
  /** Milliseconds the server asks to wait. */
  readonly retryAfter: number | undefined;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Name of undici's error for bytes that are no HTTP answer; it has no code. */
export const notHttp = 'HTTPParserError';

const aiSdkError = Symbol.for('vercel.ai.error');
const maxSaid = 200;
const maxCauses = 8;

/** Answers undefined for errors that speak neither of a server nor of the network. */
export function readFacts(error: unknown, redact: (text: string) => string): Facts | undefined {
  if (!isObject(error)) return typeof error === 'string' ? streamFacts({ message: error }, redact) : undefined;
  const code = networkCode(error);
  const fromSdk = aiSdkError in error;
  if (!(error instanceof Error)) return streamFacts(error, redact);
  if (!fromSdk && code === undefined && !isOperational(error)) return undefined;

  const status = typeof error.statusCode === 'number' && code === undefined ? error.statusCode : undefined;
  const body = typeof error.responseBody === 'string' ? error.responseBody : '';
  const page = isPage(body);
  const inBody = errorInBody(body);
  // A 200 answer whose body is an error object is an error of the server, as it would be in a stream.
  if (status !== undefined && status < 400 && inBody) return streamFacts(inBody, redact);
  const isCall = 'requestBodyValues' in error;
  return {
    status,
    code,
    network: status === undefined && (code !== undefined || isCall || !fromSdk),
    own: undefined,
    page,
    says: page ? '' : oneLine(redact(messageOf(inBody) || error.message), maxSaid),
    words: wordsOf(inBody ?? { message: error.message }),
    retryAfter: retryAfter(error.responseHeaders),
  };
}

/** The first error code in the chain of causes, or {@link notHttp}. */
function networkCode(error: unknown): string | undefined {
  let at: unknown = error;
  for (let depth = 0; depth < maxCauses && isObject(at); depth++) {
    const code = at.code ?? (isObject(at.details) ? at.details.code : undefined);
    if (at.name === notHttp) return notHttp;
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code) && !code.startsWith('ERR_INVALID')) return code;
    at = at.cause;
  }
  return undefined;
}

function streamFacts(error: JsonObject, redact: (text: string) => string): Facts {
  const number = Number(error.code ?? Number.NaN);
  const own = Object.values(ownErrorType).find((type) => type === error.type);
  return {
    status: Number.isInteger(number) && number >= 400 && number < 600 ? number : undefined,
    code: undefined,
    network: false,
    own,
    page: false,
    says: oneLine(redact(messageOf(error)), maxSaid),
    words: wordsOf(error),
    retryAfter: undefined,
  };
}

function errorInBody(body: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (!isObject(value)) return undefined;
    if (typeof value.error === 'string') return { message: value.error };
    if (isObject(value.error)) return value.error;
    const words = value.message ?? value.detail;
    return typeof words === 'string' && !('choices' in value) ? { message: words } : undefined;
  } catch {
    return undefined;
  }
}

function messageOf(error: JsonObject | undefined): string {
  return typeof error?.message === 'string' ? error.message : '';
}

function wordsOf(error: JsonObject): string {
  return [error.message, error.code, error.type].filter((word) => typeof word === 'string').join(' ').toLowerCase();
}

function isPage(body: string): boolean {
  return body.trimStart().startsWith('<');
}

function retryAfter(headers: unknown): number | undefined {
  if (!isObject(headers)) return undefined;
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return seconds >= 0 ? seconds * 1000 : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}
