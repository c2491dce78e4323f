import { answerRequests } from '../../../platform/worker-threads.ts';
import { checkSvg } from './svg.check.ts';

answerRequests(checkSvg);
