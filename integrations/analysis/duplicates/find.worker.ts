import { parentPort } from 'node:worker_threads';
import type { Answered } from '../../../platform/worker-threads.ts';
import { Search } from './find.thread.ts';
import type { Answer, Question } from './find.types.ts';

let search: Search | undefined;

/** Worker thread of the search. The main thread renews the job's lease and can cancel the search at any time. */
parentPort!.on('message', (question: Question) => {
  try {
    const answer = answerOf(question);
    const packed = 'packed' in answer ? [answer.packed] : [];
    if ('result' in answer) packed.push(answer.result.base, answer.result.snapshot);
    parentPort!.postMessage(
      { answer } satisfies Answered<Answer>,
      packed.flatMap((bytes) => (bytes ? [bytes.buffer] : [])),
    );
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    parentPort!.postMessage({ error: message } satisfies Answered<Answer>);
  }
});

function answerOf(question: Question): Answer {
  switch (question.ask) {
    case 'begin':
      search = new Search(question.fields, question.base, question.previous);
      return { done: true };
    case 'records':
      search!.add(question.records);
      return { done: true };
    case 'same':
      return { same: search!.same() };
    case 'stage':
      return { packed: search!.stage(question.stage, question.stored) };
    case 'result':
      return { result: search!.result(question.decisions) };
  }
}
