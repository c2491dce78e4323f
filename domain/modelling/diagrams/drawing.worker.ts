import { answerRequests } from '../../../platform/worker-threads.ts';
import { processDrawing } from './drawing.work.ts';

answerRequests(processDrawing);
