import { type OpenApiDocument, type OpenApiParameter, operationsOf, reference } from './document.ts';
import { capital } from './schema-names.ts';

/** Minimum number of operations for which a parameter becomes a component. */
const USES = 3;

/** Moves parameters of several operations to the components. */
export function shareParameters(document: OpenApiDocument): void {
  const { parameters: shared } = document.components;
  const operations = operationsOf(document);
  const declared = operations.flatMap(({ parameters = [] }) => parameters).filter((one) => !('$ref' in one));
  const uses = Map.groupBy(declared, (parameter) => JSON.stringify(parameter));
  const names = new Map<string, string>();
  // the most frequent one gets the name, the next one the name with a number
  for (const [text, same] of [...uses].sort((a, b) => b[1].length - a[1].length)) {
    const own = nameOf(same[0]!);
    const name = shared[own] ? `${own}2` : own;
    if (same.length < USES || shared[name]) continue;
    shared[name] = same[0]!;
    names.set(text, name);
  }
  for (const operation of operations) {
    operation.parameters = operation.parameters?.map((parameter) => {
      const name = names.get(JSON.stringify(parameter));
      return name === undefined ? parameter : reference('parameters', name);
    });
  }
}

/** `{id}` described as "Id of the card" is `IdOfCard`; all others have their own name. */
function nameOf({ name, in: place, description = '' }: OpenApiParameter): string {
  const isMember = place === 'path' && (name === 'id' || name === 'key');
  return capital(isMember ? description.replace(/ of the /, ' Of ') : name);
}
