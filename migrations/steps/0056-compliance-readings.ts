import type { Knex } from 'knex';

/**
 * What a language model has read of cards for rules that ask what a card says. None of it is anybody's input: a reading that is lost is
 * made again. Cards are named without a reference: what names a card that is gone goes with the next clean-up.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table compliance_readings (
      regulation text not null,
      rule_key text not null,
      card_id uuid not null,
      -- fingerprint of what was read, by which words and by which model: as long as it holds nobody asks again
      digest text not null,
      applies boolean not null,
      -- of one that applies: the words of the card, and the model's reason
      quote text,
      reason text,
      read_at timestamptz not null default now(),
      primary key (regulation, rule_key, card_id)
    );
  `);
}
