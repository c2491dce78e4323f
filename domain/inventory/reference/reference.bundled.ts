import { capabilities } from './capabilities.data.ts';
import { processes } from './processes.data.ts';
import {
  ALL_INDUSTRIES,
  type Catalogue,
  type CatalogueKind,
  type CatalogueNode,
  catalogueKinds,
} from './reference.types.ts';
import { valueStreams } from './value-streams.data.ts';

/** The version of the bundled catalogues, which rises when they change. */
export const BUNDLED_VERSION = '1.0.0';
const WRITTEN = '2026-11-22T00:00:00.000Z';

const texts: Record<CatalogueKind, string> = {
  capability: capabilities,
  process: processes,
  value_stream: valueStreams,
};

/** The nodes of an indented text: `part English | German` on each line, two blanks for each level. */
export function nodesOf(text: string, prefix: string): CatalogueNode[] {
  const above: string[] = [];
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, blanks, part, en, de] = /^( *)(\d+) (.+?) \| (.+)$/.exec(line)!;
      const level = blanks!.length / 2 + 1;
      const parent_id = level === 1 ? null : above[level - 2]!;
      const id = parent_id === null ? `${prefix}-${part}` : `${parent_id}.${part}`;
      above[level - 1] = id;
      return {
        id,
        parent_id,
        level,
        names: { en: en!, de: de! },
        descriptions: {},
        industry: ALL_INDUSTRIES,
      };
    });
}

const made = new Map<CatalogueKind, Catalogue>();

/** The catalogue of a kind that comes with the service. */
export function bundledCatalogue(kind: CatalogueKind): Catalogue {
  let catalogue = made.get(kind);
  if (!catalogue) {
    const nodes = nodesOf(texts[kind], catalogueKinds[kind].prefix);
    catalogue = { kind, version: BUNDLED_VERSION, generatedAt: WRITTEN, source: 'bundled', nodes };
    made.set(kind, catalogue);
  }
  return catalogue;
}
