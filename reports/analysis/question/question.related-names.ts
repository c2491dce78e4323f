import type { Condition } from './question.conditions.ts';
import type { QuestionCursor } from './question.cursor.ts';
import type { CardMeaning } from './question.meanings.ts';
import type { QuestionNames } from './question.names.ts';
import type { RelationPath } from './question.verbs.ts';
import { quoted } from './question.vocabulary.ts';

/** Reads what related cards are called: their type, and their names. */
export class RelatedNames {
  readonly #cursor: QuestionCursor;
  readonly #names: QuestionNames;

  constructor(cursor: QuestionCursor, names: QuestionNames) {
    this.#cursor = cursor;
    this.#names = names;
  }

  /** Whether a card's whole name begins here that is longer than the name of a type. */
  startsName(type: string): boolean {
    const card = this.#names.see('card');
    const isWhole = card?.meanings.some((meaning) => meaning.type === type && !meaning.partial);
    return isWhole === true && card!.length > (this.#names.see('type')?.length ?? 0);
  }

  /** The name of the type. */
  takeNoun(type: string): boolean {
    const found = this.#names.see('type');
    if (!found?.meanings.some((meaning) => meaning.type === type)) return false;
    this.#cursor.at += found.length;
    return true;
  }

  /** The name of a subtype. */
  takeSubtype(type: string): Condition | undefined {
    const found = this.#names.see('subtype');
    const own = found?.meanings.find(({ types }) => types.includes(type));
    if (!own) return undefined;
    this.#cursor.at += found!.length;
    return { filter: `${this.#names.pathOf('subtype')} = ${own.subtype}`, says: own.label };
  }

  /** Names of cards: "Billing", "Billing or Rating". */
  takeNames(type: string, way: RelationPath, takesParts: boolean, isNegated: boolean): Condition | undefined {
    const cursor = this.#cursor;
    const names = [this.#takeName(type, takesParts)].filter((name) => name !== undefined);
    if (names.length === 0) return undefined;
    const joints = new Set<string>();
    for (;;) {
      const start = cursor.at;
      const joint = [', or', ', and', 'or', 'nor', 'and', ','].find((words) => cursor.takePhrase(words));
      const next = joint && this.#takeName(type, takesParts);
      if (!next) {
        cursor.at = start;
        break;
      }
      names.push(next);
      if (joint !== ',') joints.add(joint === 'nor' ? 'or' : joint.replace(', ', ''));
    }
    const [joint = 'and', ...others] = joints;
    if (others.length > 0 || (names.length > 1 && isNegated && joint === 'and')) return undefined;
    const tests = names.map(({ partial, name }) => `${way.path}.name ${partial ? '~' : '='} ${quoted(name)}`);
    const says = this.#cursor.texts.join(
      names.map(({ name, partial }) => (partial ? `"…${name}…"` : `"${name}"`)),
      joint === 'or' ? 'or' : 'and',
    );
    return { filter: tests.length > 1 ? `(${tests.join(` ${joint} `)})` : tests[0]!, says };
  }

  #takeName(type: string, takesParts: boolean): Pick<CardMeaning, 'name' | 'partial'> | undefined {
    const cursor = this.#cursor;
    cursor.takeAny(['called', 'named']);
    const found = this.#names.see('card');
    const own = found?.meanings.filter((card) => card.type === type && (takesParts || !card.partial));
    const card = own?.find(({ partial }) => !partial) ?? own?.[0];
    if (card) {
      cursor.at += found!.length;
      return card;
    }
    const name = cursor.takeQuoted();
    return name === undefined ? undefined : { name, partial: true };
  }
}
