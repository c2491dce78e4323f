import Type, { type TSchema } from 'typebox';
import { OpenObject } from '../domain/kernel/shapes.ts';
import type { ResponseHeader } from './openapi/headers.ts';
import type { App } from './types.ts';

/** A successful response of an operation. */
export interface OperationResponse {
  description: string;
  /** Absent for empty responses. Schemas with an `$id` become components of the OpenAPI document. */
  schema?: TSchema;
  /** Media type if it is not JSON; several if a file can have any of them. */
  mediaType?: string | string[];
  /** Alternative media types of the same content. */
  otherMedia?: readonly string[];
  /** A valid example; by default it is derived from the schema. */
  example?: unknown;
  /** Headers in addition to those derived from method and status. */
  headers?: ResponseHeader[];
}

/** The response schemas for the serialisers; the rest of the declaration is added to the OpenAPI document. */
export function responseSchemas(
  app: App,
  declared: Record<number, OperationResponse>,
): Record<number, unknown> {
  return Object.fromEntries(
    Object.entries(declared).map(
      ([status, { description, schema: own, mediaType = 'application/json', otherMedia = [] }]) => {
        if (!own) return [status, { description, type: 'null' }];
        const schema = withComponents(app, own);
        const media = [mediaType].flat().map((type) => [type, { schema }]);
        const other = otherMedia.map((type) => [
          type,
          { schema: type.endsWith('+json') ? OpenObject : Type.String() },
        ]);
        return [status, { description, content: Object.fromEntries([...media, ...other]) }];
      },
    ),
  );
}

/** Replaces schemas with an `$id` by references, and adds them to the application. */
function withComponents(app: App, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((part) => withComponents(app, part));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $id, ...members } = schema as { $id?: string };
  if ($id !== undefined && app.getSchema($id)) return { $ref: `${$id}#` };
  const parts = Object.entries(members).map(([name, part]) => [name, withComponents(app, part)]);
  if ($id === undefined) return Object.fromEntries(parts);
  app.addSchema({ ...Object.fromEntries(parts), $id });
  return { $ref: `${$id}#` };
}
