import type { Condition } from './question.conditions.ts';
import type { QuestionCursor } from './question.cursor.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import type { QuestionNames } from './question.names.ts';
import { quoted } from './question.vocabulary.ts';

/**
 * "owned by Ada King", "is Ada King responsible for", "does Ada King own": a role of a person; right after the subject also
 * "of Ada King" in any role. What else a person did, such as approving, is not read.
 */
export const readPerson = (
  cursor: QuestionCursor,
  names: QuestionNames,
  isAfterSubject: boolean,
): Condition | undefined =>
  cursor.attempt(() => {
    const before = takeRole(cursor, names);
    const isAny = !before && isAfterSubject && cursor.takePhrase('of');
    while (cursor.takeAny(grammar.personJoints));
    const found = names.see('person');
    const [person, ...others] = found?.meanings ?? [];
    // people of one name are not guessed at
    if (!person || others.length > 0) return undefined;
    cursor.at += found!.length;
    const behind = () => {
      while (cursor.takeAny(grammar.personJoints));
      return takeRole(cursor, names);
    };
    const anyRole = { paths: [names.pathOf('stakeholder')], label: cursor.texts.say('question.stakeholder') };
    const role = before ?? cursor.attempt(behind) ?? (isAny ? anyRole : undefined);
    if (!role) return undefined;
    if (!before) cursor.takeAny(['for', 'of']);
    const tests = role.paths.map((path) => `${path} = ${quoted(person.email)}`);
    return {
      filter: tests.length > 1 ? `(${tests.join(' or ')})` : tests[0]!,
      says: `${role.label}: ${person.name}`,
    };
  });

/** A stakeholder role, or the roles of owners. */
function takeRole(cursor: QuestionCursor, names: QuestionNames) {
  return cursor.attempt(() => {
    while (cursor.takeAny(grammar.roleJoints));
    const roles = names.takeRoles();
    if (roles) return roles;
    const field = names.see('field')?.meanings.every(({ path }) => path.startsWith('stakeholder'))
      ? names.takeField()
      : undefined;
    if (field) return { paths: [field.path], label: field.label };
    return cursor.takeAny(grammar.ownVerbs) ? names.ownerRoles() : undefined;
  });
}
