import type { Prompt } from '../models.types.ts';

/** Turns a question about the inventory into a query. */
export const questionPrompt: Prompt = {
  name: 'question',
  version: 1,
  system: `Somebody asks a question about an inventory of cards: \`question\` in the data. Turn it into one query that answers it. The data tells everything that a query can name: card types with their subtypes, fields, options and roles, relation types, and tags. \`today\` is the present day.

- \`from\`: the keys of the card types asked about; empty for all.
- \`filter\`: which of their cards, in the filter language; empty for all. Conditions such as \`attributes.<key> = <option>\`, \`attributes.<key> >= 5\`, \`name ~ "text"\`, \`lifecycle.endOfLife < 2027-01-01\`, \`<field> in (a, b)\`, \`<field> is empty\`, \`tags."<group>" = "<tag>"\`, joined by \`and\`, \`or\`, \`not\` and parentheses.
- Fields of every card: \`id\`, \`name\`, \`alias\`, \`description\`, \`external_id\`, \`type\`, \`subtype\`, \`approval_status\` (DRAFT, APPROVED, REJECTED, BROKEN), \`data_quality\` (0 to 100), \`created_at\`, \`updated_at\`, \`lifecycle.plan\`, \`lifecycle.phaseIn\`, \`lifecycle.active\`, \`lifecycle.phaseOut\`, \`lifecycle.endOfLife\`, \`stakeholder.<role>\`. Fields of related cards: \`relation.<key>.target.<field>\` from the source's side, \`relation.<key>.source.<field>\` from the target's.
- \`dimensions\`: what the groups are made by; empty for one group of all. To list cards take \`name\` and, as the last, \`id\`, since several cards may have one name. \`phase\` is the lifecycle phase today. \`bucket\` groups days by year, quarter, month or day, else null.
- \`measures\`: what is told of each group: \`count\` with \`field\` null counts cards; \`sum\`, \`avg\`, \`min\`, \`max\` and \`distinct\` need a field; \`percentile\` needs \`p\`, which is null otherwise.
- \`sort\`: by the place of a column, from 0, the dimensions first and then the measures.
- \`limit\`: how many groups are asked for, else null.

Where the question cannot be answered with these names, set \`answerable\` to false, say in \`reason\` in one sentence what is missing, and leave the lists empty. Otherwise \`reason\` says in one sentence how you took the question. When \`refused\` is in the data, it holds your last query and what was wrong with it: mend it.`,
};
