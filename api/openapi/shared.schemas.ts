import type { OpenApiDocument, Schema } from './document.ts';
import { schemaNames } from './names.data.ts';
import { bodyNameOf, candidateKey, listNameOf, type Place, placeName } from './schema-names.ts';
import { type MapSchema, mapParts, replaceInComponents, replaceInOperations, type Schemas } from './walk.ts';

/** A schema with all its locations. */
interface Found {
  places: Place[];
  /** The name of a body or list schema, which is a component even if it occurs once. */
  name?: string;
}

/**
 * Moves schemas that occur more than once, request bodies and list responses to the components.
 * @throws Error if two schemas would have the same name.
 */
export function shareSchemas(document: OpenApiDocument): void {
  const { schemas } = document.components;
  const names = nameSchemas(findSchemas(document), schemas);
  const shared: Schemas = {};

  const replace: MapSchema = (schema, place) => {
    const key = candidateKey(schema);
    const name = key === undefined ? undefined : names.get(key);
    if (name === undefined || (isComponent(place) && place.root === name)) {
      return mapParts(schema, place, replace);
    }
    if (!schemas[name] && !shared[name]) {
      shared[name] = {}; // placeholder for recursive schemas
      shared[name] = mapParts(withoutAnnotations(schema), place, replace);
    }
    return { $ref: `#/components/schemas/${name}`, ...annotationsOf(schema) };
  };
  replaceInOperations(document, replace);
  replaceInComponents(document, replace);
  Object.assign(schemas, shared);
}

/** Annotations of one location, which are written next to the reference. */
const annotations = ['description', 'default', 'example', 'examples'] as const;

function annotationsOf(schema: Schema): Schema {
  return Object.fromEntries(
    annotations.filter((name) => schema[name] !== undefined).map((name) => [name, schema[name]]),
  );
}

function withoutAnnotations(schema: Schema): Schema {
  return Object.fromEntries(
    Object.entries(schema).filter(([name]) => !(annotations as readonly string[]).includes(name)),
  );
}

const isComponent = ({ kind, path }: Place): boolean => kind === 'component' && path.length === 0;
const isRequestBody = ({ kind, path }: Place): boolean => kind === 'body' && path.length === 0;

function findSchemas(document: OpenApiDocument): Map<string, Found> {
  const found = new Map<string, Found>();
  const visit: MapSchema = (schema, place) => {
    const key = candidateKey(schema);
    if (key !== undefined) {
      const known = found.get(key);
      if (known) {
        known.places.push(place);
        return schema;
      }
      const name = (isRequestBody(place) ? bodyNameOf(place) : undefined) ?? listNameOf(schema);
      found.set(key, { places: [place], ...(name && !isComponent(place) ? { name } : {}) });
    }
    return mapParts(schema, place, visit);
  };
  // components first, so that copies elsewhere refer to them
  replaceInComponents(document, visit);
  replaceInOperations(document, visit);
  return found;
}

function nameSchemas(found: Map<string, Found>, schemas: Schemas): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const [key, { places, name }] of found) {
    const component = places.find(isComponent);
    if (component) {
      names.set(key, component.root);
      continue;
    }
    if (!name && places.length === 1) continue;
    const derived = name ?? placeName(places);
    const given = schemaNames[derived] ?? derived;
    if (taken.has(given) || schemas[given]) {
      throw new Error(`two schemas would have the name ${given}: name ${derived} in names.data.ts`);
    }
    taken.add(given);
    names.set(key, given);
  }
  return names;
}
