import { answerRequests } from '../../../platform/worker-threads.ts';
import { readContent } from './bpmn.model.ts';

answerRequests(readContent);
