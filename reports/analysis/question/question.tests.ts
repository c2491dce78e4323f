import {
  type Condition,
  inPhase,
  readDateTest,
  readNumberTest,
  readTextTest,
} from './question.conditions.ts';
import type { QuestionCursor } from './question.cursor.ts';
import type { FieldMeaning, QuestionNames } from './question.names.ts';

/** Takes conditions on what the metamodel names from a question. */
export class QuestionTests {
  readonly #cursor: QuestionCursor;
  readonly #names: QuestionNames;

  constructor(cursor: QuestionCursor, names: QuestionNames) {
    this.#cursor = cursor;
    this.#names = names;
  }

  /** A field, phase or related card that is there. */
  takeExistence(): Condition | undefined {
    const day = this.#names.takeDay();
    if (day) return { filter: `${day.path} is not empty`, says: day.label };
    const field = this.#names.takeField(({ path }) => path !== 'phase');
    if (field) return { filter: `${field.path} is not empty`, says: field.label };
    const found = this.#names.takeWays();
    if (!found || found.ways.length === 0) return undefined;
    const tests = found.ways.map(({ path }) => `${path} is not empty`);
    return { filter: tests.length > 1 ? `(${tests.join(' or ')})` : tests[0]!, says: found.label };
  }

  /** Options of a field, of the given one if any. */
  takeOptions(path?: string, label?: string): Condition | undefined {
    const found = this.#names.takeOptions(path);
    if (!found) return undefined;
    const [first, ...more] = found.values;
    const values = found.values.map(({ value }) => value).join(', ');
    const filter = more.length > 0 ? `${found.path} in (${values})` : `${found.path} = ${first!.value}`;
    return {
      filter,
      says: `${label ? `${label}: ` : ''}${found.values.map((value) => value.label).join(' or ')}`,
    };
  }

  /** What is asked of a field whose name was taken. */
  takeTest(field: FieldMeaning): Condition | undefined {
    const cursor = this.#cursor;
    switch (field.holds) {
      case 'number':
        return readNumberTest(cursor, field);
      case 'date':
      case 'moment':
        return readDateTest(cursor, field);
      case 'text':
        return readTextTest(cursor, field);
      case 'boolean':
        return { filter: `${field.path} = true`, says: field.label };
      case 'options': {
        const start = cursor.at;
        cursor.takeAny(['is', 'are', 'of', '=', 'in', 'with']);
        const found = this.takeOptions(field.path);
        if (!found) cursor.at = start;
        return found;
      }
      case 'key': {
        const phase = field.path === 'phase' ? this.#names.see('phase') : undefined;
        if (!phase) return undefined;
        cursor.at += phase.length;
        return inPhase(phase.meanings[0]!.phase, cursor.today);
      }
    }
  }
}
