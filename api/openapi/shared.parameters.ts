import type { OpenApiDocument, OpenApiParameter } from './document.ts';
import { capital } from './schema-names.ts';

/** Minimum number of operations for which a parameter becomes a component. */
const USES = 3;

/** Moves parameters of several operations to the components. */
export function shareParameters(document: OpenApiDocument): OpenApiDocument {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const uses = new Map<string, { parameter: OpenApiParameter; count: number }>();
  for (const parameter of operations.flatMap(({ parameters }) => parameters ?? [])) {
    if ('$ref' in parameter) continue;
    const text = JSON.stringify(parameter);
    uses.set(text, { parameter, count: (uses.get(text)?.count ?? 0) + 1 });
  }
  const shared: Record<string, OpenApiParameter> = {};
  const names = new Map<string, string>();
  // the most frequent one gets the name
  for (const [text, { parameter, count }] of [...uses].sort((a, b) => b[1].count - a[1].count)) {
    const name = nameOf(parameter);
    if (count < USES || shared[name] || document.components.parameters![name]) continue;
    shared[name] = parameter;
    names.set(text, name);
  }
  const refer = (parameter: OpenApiParameter): OpenApiParameter => {
    const name = names.get(JSON.stringify(parameter));
    return name ? ({ $ref: `#/components/parameters/${name}` } as unknown as OpenApiParameter) : parameter;
  };
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [
          method,
          { ...operation, ...(operation.parameters ? { parameters: operation.parameters.map(refer) } : {}) },
        ]),
      ),
    ]),
  );
  const parameters = { ...document.components.parameters, ...shared };
  return {
    ...document,
    paths,
    components: {
      ...document.components,
      parameters: Object.fromEntries(Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

/** `{id}` described as "Id of the card" is `IdOfCard`; all others have their own name. */
function nameOf({ name, in: place, description = '' }: OpenApiParameter): string {
  const isMember = place === 'path' && (name === 'id' || name === 'key');
  return capital(isMember ? description.replace(/ of the /, ' Of ') : name);
}
