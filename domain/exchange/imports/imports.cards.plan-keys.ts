import { type Planning, refuse, refuseDuplicates, representative } from './imports.planning.ts';

/**
 * Refuses rows whose keys contradict the inventory, and the later of two rows with one key. `fails_new` rows that
 * make a card fail here too.
 */
export async function checkKeys(planning: Planning): Promise<void> {
  await refuse(
    planning,
    `select line, 'type', 'type_differs', 'the card is of the type ' || stored_type
     from plan_rows where given_id is not null and stored_type <> type`,
  );
  if (planning.mode === 'upsert') {
    await refuse(
      planning,
      `select line, 'id', 'unknown_id', 'is no card'
       from plan_rows where given_id is not null and is_new and type is not null`,
    );
  } else {
    await refuse(
      planning,
      `select line, 'id', 'id_taken', 'is a card already' from plan_rows where given_id is not null and not is_new`,
    );
  }
  await refuse(
    planning,
    `select line, 'external_id', 'external_id_taken', 'the card ' || holder || ' of this type has it already'
     from plan_rows where holder is not null and (? = 'create' or holder <> card_id)`,
    [planning.mode],
  );
  await refuseRepeated(planning);
}

/** Fails the later of two rows that have an id, an external id or a card in common, naming the line that counts. */
async function refuseRepeated(planning: Planning): Promise<void> {
  await refuseDuplicates(
    planning,
    `select line, case when by_external_id <> line or given_id is null then 'external_id' else 'id' end as field,
       least(nullif(by_external_id, line), nullif(by_id, line), nullif(by_card, line)) as first
     from (
       select line, given_id,
         case when external_id is not null then ${representative('type, external_id')} end as by_external_id,
         case when given_id is not null then ${representative('given_id')} end as by_id,
         case when not is_new then ${representative('card_id')} end as by_card
       from plan_rows where not repeated
     ) k`,
  );
}
