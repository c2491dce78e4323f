import type { ToolAnnotations } from '@modelcontextprotocol/server';
import Type, { type Static, type TSchema } from 'typebox';
import { IntegerIn, OpenObject, OptionalText, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { storageErrors } from '../../../platform/storable.ts';
import { createBodyCheck } from '../../plugins/validation.ts';
import type { CallApi } from './mcp.api.ts';

interface ToolSpec<I extends TSchema> {
  /** Unique, snake case. */
  name: string;
  title: string;
  description: string;
  input: I;
  output: TSchema;
  annotations: ToolAnnotations;
  run(input: Static<I>, api: CallApi): Promise<Record<string, unknown>>;
}

/** A tool, whose arguments are validated before it runs. */
export interface Tool extends Omit<ToolSpec<TSchema>, 'run'> {
  /** @throws EstateError `validation_failed` naming each invalid argument. */
  call(input: unknown, api: CallApi): Promise<Record<string, unknown>>;
}

/** Declares a tool. */
export function tool<I extends TSchema>({ run, ...spec }: ToolSpec<I>): Tool {
  let check: ((input: unknown) => FieldError[]) | undefined;
  return {
    ...spec,
    async call(input, api) {
      check ??= createBodyCheck(spec.input);
      const given = structuredClone(input ?? {});
      const errors = [...storageErrors(given), ...check(given)];
      if (errors.length > 0) throw invalidFields(errors);
      return await run(given as Static<I>, api);
    },
  };
}

/** Annotations of read-only tools and of writing tools. */
export const reading: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
export const writing: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

/** Maximum number of list elements in one response. */
export const MOST_ITEMS = 100;

export const Id = (description: string) => Type.String({ ...Uuid, description });
export const Key = (description: string) => Type.String({ minLength: 1, maxLength: 100, description });
/** An object whose members depend on the metamodel, or are those of an operation's response. */
export const JsonObject = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), { description });
/** Parameters of an operation's query. */
export const Parameters = (description: string) =>
  Type.Record(
    Type.String({ maxLength: 100 }),
    Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'], maxLength: 4000 }),
    { default: {}, description },
  );

/** The arguments of every list. */
export const paging = {
  page_size: IntegerIn(1, MOST_ITEMS, 'The number of items in one response', 20),
  cursor: OptionalText(1000, '`next_cursor` of the previous response; without it: from the beginning'),
};

/** The output of a tool, with a list of truncations. */
export const answer = <T extends Record<string, TSchema>>(members: T) =>
  object({
    ...members,
    truncations: Type.Array(object({ path: Type.String(), shown: Type.Integer(), of: Type.Integer() }), {
      description: 'Truncated lists and texts',
    }),
  });

/** The output of a list tool. */
export const listed = (description: string) =>
  answer({
    items: Type.Array(OpenObject, { description }),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      description: 'The cursor of the next page; null at the end',
    }),
  });

/** Maximum JSON characters of one response. */
export const MAX_RESPONSE_LENGTH = 200_000;

/** A truncated list or text. */
interface Cut {
  path: string;
  shown: number;
  of: number;
}

/** Maximum number of listed truncations. */
const MOST_CUTS = 50;

/**
 * Truncates long lists and texts of a response, and lists the truncations in `truncations`.
 * @param limits elements of each list, and characters of each text.
 */
export function bounded<T extends object>(members: T, limits: { items: number; text: number }) {
  const truncations: Cut[] = [];
  const note = (cut: Cut) => {
    if (truncations.length < MOST_CUTS) truncations.push(cut);
  };
  const visit = (part: unknown, path: string): unknown => {
    if (typeof part === 'string') {
      if (part.length <= limits.text) return part;
      const shown = part.slice(0, limits.text).replace(/[\ud800-\udbff]$/, '');
      note({ path, shown: shown.length, of: part.length });
      return shown;
    }
    if (Array.isArray(part)) {
      if (part.length > limits.items) note({ path, shown: limits.items, of: part.length });
      return part.slice(0, limits.items).map((item, at) => visit(item, `${path}[${at}]`));
    }
    if (part === null || typeof part !== 'object') return part;
    return Object.fromEntries(
      Object.entries(part).map(([key, member]) => [key, visit(member, path === '' ? key : `${path}.${key}`)]),
    );
  };
  return { ...(visit(members, '') as T), truncations };
}
