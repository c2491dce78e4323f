import type { ToolAnnotations } from '@modelcontextprotocol/server';
import type { Static, TObject, TSchema } from 'typebox';
import { type FieldError, invalidFields } from '../../platform/errors.ts';
import { unfit } from '../../platform/storable.ts';
import { createBodyCheck } from '../plugins/validation.ts';
import type { Ask } from './mcp.ask.ts';

/** What a tool works with besides its arguments: the service, as the caller of the tool may use it. */
export interface ToolContext {
  ask: Ask;
}

/** One tool, as it is declared. */
export interface ToolSpec<I extends TObject = TObject, O extends TObject = TObject> {
  /** Unique, snake case. */
  name: string;
  title: string;
  description: string;
  input: I;
  output: O;
  annotations: ToolAnnotations;
  run(input: Static<I>, context: ToolContext): Promise<Static<O>>;
}

/** A tool whose arguments are checked before it runs. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  input: TSchema;
  output: TSchema;
  annotations: ToolAnnotations;
  /** @throws EstateError `validation_failed` naming each argument that does not fit. */
  call(input: unknown, context: ToolContext): Promise<Record<string, unknown>>;
}

/** Declares a tool. */
export function tool<I extends TObject, O extends TObject>(spec: ToolSpec<I, O>): Tool {
  let check: ((input: unknown) => FieldError[]) | undefined;
  return {
    ...spec,
    async call(input, context) {
      check ??= createBodyCheck(spec.input);
      const given = structuredClone(input ?? {});
      const errors = [...unfit(given), ...check(given)];
      if (errors.length > 0) throw invalidFields(errors);
      return (await spec.run(given as Static<I>, context)) as Record<string, unknown>;
    },
  };
}

/** Of tools that change nothing. */
export const reading: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
