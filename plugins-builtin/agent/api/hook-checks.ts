/**
 * What the answers of hooks must look like. A plugin is not held to its types at run time, and the loop
 * builds on these values: a wrong one must be a fault of its plugin, not a failure of the run.
 */

import { imageTypes, isBase64 } from './images.ts';

type Check = (value: unknown) => boolean;

const isString: Check = (value) => typeof value === 'string';
const isObject: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isNumber: Check = (value) => typeof value === 'number';
const isBoolean: Check = (value) => typeof value === 'boolean';

function shape(members: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(members);
  return (value) => isObject(value) && entries.every(([key, check]) => check((value as Readonly<Record<string, unknown>>)[key]));
}

function list(item: Check): Check {
  return (value) => Array.isArray(value) && value.every(item);
}

function optional(check: Check): Check {
  return (value) => value === undefined || check(value);
}

const textPart = shape({ type: (type) => type === 'text', text: isString });
const callPart = shape({ type: (type) => type === 'tool-call', toolCallId: isString, toolName: isString });
const resultPart = shape({ type: (type) => type === 'tool-result', toolCallId: isString, toolName: isString, output: shape({ type: isString }) });
const fileData: Check = (data) => shape({ type: (type) => type === 'data', data: isBase64 })(data) || shape({ type: (type) => type === 'url', url: (url) => isString(url) && URL.canParse(url as string) })(data) || shape({ type: (type) => type === 'text', text: isString })(data);
const fileType: Check = (type) => imageTypes.includes(type) || ['application/pdf', 'text/plain'].includes(type as string);
const filePart = shape({ type: (type) => type === 'file', mediaType: fileType, data: fileData });
const otherPart = shape({ type: (type) => isString(type) && !['text', 'tool-call', 'tool-result', 'file'].includes(type as string) });
const part: Check = (value) => textPart(value) || resultPart(value) || callPart(value) || filePart(value) || otherPart(value);
const systemMessage = shape({ role: (role) => role === 'system', content: isString });
const otherMessage = shape({ role: (role) => role === 'user' || role === 'assistant' || role === 'tool', content: list(part) });
const message: Check = (value) => otherMessage(value) || systemMessage(value);
const schema = shape({ name: isString, description: isString, inputSchema: isObject });
const thought = shape({ text: isString, at: optional(isNumber), provider: optional(isObject) });
const announced = shape({ id: isString, name: isString, arguments: isString });

export const isPrompt = shape({ sections: list(shape({ id: isString, text: isString })) });
export const isModelRequest = shape({ messages: list(message), tools: list(schema), temperature: optional(isNumber), maxTokens: optional(isNumber) });
export const isModelResponse = shape({ text: isString, reasoning: isString, finish: isString, calls: list(announced), reasoningParts: optional(list(thought)) });
export const isRecovery = shape({ retry: isBoolean, after: optional(isNumber) });
export const isToolUse = shape({ name: isString, input: (input) => input !== undefined });
export const isToolOutcome = shape({ text: isString, isError: isBoolean });
export const isBetterText = shape({ text: isString });
export const isContinuation = shape({ continue: isString });
