import type { NewRecord } from './records.ts';
import type { Staging } from './stage.types.ts';

/** A record that has yet to get a line, and the place in the file that its row has. */
export type PlacelessRecord = Omit<NewRecord, 'line' | 'sheet' | 'row' | 'source_type'>;

/** Whether something is told for the first time, in the transaction that is under way or before. */
export function tellOnce({ told, telling }: Staging, key: string): boolean {
  if (told.has(key) || telling.has(key)) return false;
  telling.add(key);
  return true;
}

/** A card's record as far as those of its people go. */
export interface HeldCard {
  line: number;
  source_id: string;
  display_name: string;
  card_type_key: string;
}

/** Somebody who shall have a role; without an account there is no `user_id`, and none is made. */
export interface NamedHolder {
  role: string;
  email: string;
  user_id: string | undefined;
}

/** The records of somebody with a role on a card of the file: the role's, behind the person's where that one is new. */
export function holderRecords(
  staging: Staging,
  card: HeldCard,
  { role, email, user_id }: NamedHolder,
): PlacelessRecord[] {
  const missing = user_id ? null : 'there is no user with this address';
  const person: PlacelessRecord = {
    entity_kind: 'user',
    source_id: email,
    display_name: email,
    action: user_id ? 'skip' : 'conflict',
    error_message: missing,
  };
  const held: PlacelessRecord = {
    entity_kind: 'subscription',
    source_id: `${card.source_id}:${role}:${email}`,
    display_name: `${card.display_name}: ${role} ${email}`,
    card_type_key: card.card_type_key,
    action: user_id ? 'create' : 'conflict',
    error_message: missing,
    payload: { user_id: user_id ?? null, role },
    source_line: card.line,
  };
  return tellOnce(staging, `user ${email.toLowerCase()}`) ? [person, held] : [held];
}
