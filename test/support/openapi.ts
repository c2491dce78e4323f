import type { MediaType, OpenApiDocument } from '../../api/openapi/document.ts';

/** The example of a body, its own or that of the components. */
export function exampleIn(
  { components }: OpenApiDocument,
  { example, examples }: Partial<MediaType>,
): unknown {
  const [first] = Object.values(examples ?? {}) as { $ref?: string; value?: unknown }[];
  if (first?.$ref === undefined) return example ?? first?.value;
  return (components.examples![first.$ref.split('/').at(-1)!] as { value: unknown }).value;
}
