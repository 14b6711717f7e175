/** Tool calls as servers stream them, in a form the AI SDK reads: with a name, and with values of the right type. */

type JsonObject = Readonly<Record<string, unknown>>;

interface CallPiece extends JsonObject {
  readonly index?: number;
  readonly id?: string;
  readonly function: { readonly name?: string; readonly arguments?: string };
}

/** No tool has this name, so the model is told that it called one that does not exist. */
export const unnamed = 'unnamed';
const longestName = 128;

/**
 * Mends the `tool_calls` of the deltas of one answer, which come in order. A call without a name is held back, in case
 * the name follows, up to the last delta.
 */
export function toolCallRepair(): (calls: unknown, isLast: boolean) => readonly CallPiece[] {
  const known = new Set<string>();
  const held = new Map<string, CallPiece>();

  const take = (piece: CallPiece): CallPiece[] => {
    const keys = keysOf(piece);
    const isKnown = keys.some((key) => known.has(key)) || (piece.index === undefined && piece.id === undefined && known.size > 0);
    if (piece.function.name === undefined && isKnown) return [piece];
    const place = keys.find((key) => held.has(key));
    const whole = joined(place === undefined ? undefined : held.get(place), piece);
    if (place !== undefined) held.delete(place);
    if (piece.function.name === undefined) {
      held.set(place ?? keys[0] ?? '', whole);
      return [];
    }
    for (const key of keys) known.add(key);
    return [whole];
  };

  return (calls, isLast) => {
    const pieces = Array.isArray(calls) ? (calls as readonly unknown[]).filter(isObject).flatMap((call) => take(pieceOf(call))) : [];
    if (!isLast) return pieces;
    const nameless = [...held.values()].map((piece) => ({ ...piece, function: { ...piece.function, name: unnamed } }));
    held.clear();
    return [...pieces, ...nameless];
  };
}

function keysOf({ index, id }: CallPiece): string[] {
  const keys = [...(index === undefined ? [] : [`index ${index}`]), ...(id === undefined ? [] : [`id ${id}`])];
  return keys.length > 0 ? keys : [''];
}

function joined(before: CallPiece | undefined, after: CallPiece): CallPiece {
  if (!before) return after;
  return { ...before, ...after, function: { ...after.function, arguments: (before.function.arguments ?? '') + (after.function.arguments ?? '') } };
}

function pieceOf({ index, id, type: _, function: called, ...rest }: JsonObject): CallPiece {
  const { name, arguments: given } = isObject(called) ? called : {};
  const known = nameOf(name);
  return {
    ...rest,
    ...(typeof index === 'number' && { index }),
    ...((typeof id === 'string' || typeof id === 'number') && String(id).trim() !== '' && { id: String(id) }),
    function: {
      ...(known !== undefined && { name: known }),
      ...(given !== undefined && given !== null && { arguments: typeof given === 'string' ? given : JSON.stringify(given) }),
    },
  };
}

/** Servers refuse a history with other characters, and terminals obey some of them. */
export function nameOf(name: unknown): string | undefined {
  const text = typeof name === 'string' ? name.trim() : '';
  return text === '' ? undefined : text.slice(0, longestName).replace(/[^\w.:/-]/g, '_');
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
