import type { LinkKind } from '../../../domain/exchange/itsm/runs.links.ts';
import type { RunWork } from './run.types.ts';

/** The mapped relation types; several kinds outside may stand for one. */
export function kindsOf({ loaded, mappingId }: Pick<RunWork, 'loaded' | 'mappingId'>): LinkKind[] {
  const kinds = new Map<string, LinkKind>();
  for (const [at, { relationType, remoteType, reversed }] of loaded.mapping.relations.entries()) {
    const target_mapping_id = loaded.relationTargets[at] ?? mappingId;
    const key = `${relationType} ${target_mapping_id}`;
    const kind = kinds.get(key) ?? {
      relation_type_key: relationType,
      mapping_id: mappingId,
      target_mapping_id,
      forward: [],
      backward: [],
    };
    (reversed ? kind.backward : kind.forward).push(remoteType);
    kinds.set(key, kind);
  }
  return [...kinds.values()];
}
