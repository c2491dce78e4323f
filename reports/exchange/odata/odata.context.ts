import type { Wire } from './odata.wire.ts';
import type { NestedOptions } from './query/query.types.ts';

/** The select list of a context URL (OData protocol, 10.7 to 10.11). */
function selectList(options: Pick<NestedOptions, 'select' | 'expand'>): string {
  const parts = [
    ...(options.select ?? []),
    ...options.expand.map(({ name, references, options: inner }) =>
      references ? `${name}/$ref` : `${name}(${selectList(inner).slice(1, -1)})`,
    ),
  ];
  return parts.length === 0 ? '' : `(${parts.join(',')})`;
}

/** The `@odata.context` member; none if the client wants no metadata. */
export function contextOf(
  wire: Wire,
  what: string,
  options?: Pick<NestedOptions, 'select' | 'expand'>,
  suffix = '',
): string[] {
  if (wire.metadata === 'none') return [];
  const address = `${wire.root}/$metadata#${what}${options ? selectList(options) : ''}${suffix}`;
  return [`"@odata.context":${JSON.stringify(address)}`];
}
