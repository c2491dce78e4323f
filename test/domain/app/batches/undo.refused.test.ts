import {
  ignoredEvents,
  outsideBatches,
  refusedEvents,
  undoMethodOf,
  undoRightOf,
} from '../../../../domain/app/batches/undo.rights.ts';
import { undoRefusals } from '../../../../domain/app/resources.ts';
import { type EventType, eventTypes } from '../../../../domain/kernel/events/events.catalogue.ts';

it('knows of every kind of event how it is undone, or why it is not', () => {
  const unknown = (Object.keys(eventTypes) as EventType[]).filter((type) => {
    const group = type.split('.')[0]!;
    const named = undoRefusals.has(type) || type in refusedEvents || group in refusedEvents;
    const outside = (outsideBatches as readonly string[]).includes(group);
    return !undoMethodOf(type) && !ignoredEvents.includes(type) && !named && !outside;
  });
  expect(unknown).toEqual([]);
});

it('knows the rights that every kind of undoing needs', () => {
  const undone = (Object.keys(eventTypes) as EventType[]).filter((type) => undoMethodOf(type));
  // throws where none is declared
  expect(undone.filter((type) => undoRightOf(type) === undefined)).toEqual(
    undone.filter((type) => ignoredEvents.includes(type)),
  );
});

it('refuses nothing by name that it can undo', () => {
  const both = (Object.keys(eventTypes) as EventType[]).filter(
    (type) => undoMethodOf(type) && (undoRefusals.has(type) || type in refusedEvents),
  );
  expect(both).toEqual([]);
});
