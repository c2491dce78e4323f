import { type MediaType, type OpenApiDocument, operationsOf, reference } from './document.ts';

/** Minimum length of an example as JSON that becomes a component: shorter ones are about as long as a reference. */
const LENGTH = 150;

/** Moves examples of several request and response bodies to the components, named after their schemas. */
export function shareExamples(document: OpenApiDocument): void {
  const { examples: shared = {} } = document.components;
  const uses = Map.groupBy(
    operationsOf(document)
      .flatMap(({ requestBody, responses }) => [requestBody, ...Object.values(responses)])
      .flatMap((part) => Object.values(part?.content ?? {}))
      .filter(({ example }) => example !== undefined),
    ({ example }) => JSON.stringify(example),
  );
  for (const [text, media] of uses) {
    if (media.length < 2 || text.length < LENGTH) continue;
    const own = nameOf(media[0]!);
    if (own === undefined) continue;
    let name = own;
    for (let n = 2; shared[name]; n += 1) name = `${own}${n}`;
    shared[name] = { value: media[0]!.example };
    for (const one of media) {
      delete one.example;
      one.examples = { [own]: reference('examples', name) };
    }
  }
  document.components.examples = shared;
}

const nameOf = ({ schema }: MediaType): string | undefined => schema.$ref?.split('/').at(-1);
