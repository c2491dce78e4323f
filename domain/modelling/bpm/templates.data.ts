/** One step of a template: what it is, where it stands in the grid, and what follows. */
export interface Step {
  id: string;
  type:
    | 'startEvent'
    | 'endEvent'
    | 'task'
    | 'userTask'
    | 'serviceTask'
    | 'sendTask'
    | 'receiveTask'
    | 'businessRuleTask'
    | 'exclusiveGateway'
    | 'parallelGateway'
    | 'subProcess';
  name: string;
  /** Columns from the left, from 0. */
  column: number;
  /** The lane, from above, from 0. */
  lane: number;
  /** Steps that follow, with the name of the flow where it has one. */
  next: Record<string, string>;
}

export interface Template {
  key: string;
  name: string;
  description: string;
  category: 'General' | 'Enterprise' | 'HR' | 'ITIL';
  /** Names of the lanes; empty for a process without a pool. */
  lanes: string[];
  steps: Step[];
}

const step = (
  id: string,
  type: Step['type'],
  name: string,
  column: number,
  lane: number,
  ...next: (string | [string, string])[]
): Step => ({
  id,
  type,
  name,
  column,
  lane,
  next: Object.fromEntries(next.map((to) => (typeof to === 'string' ? [to, ''] : to))),
});

/** Models to begin with. */
export const templates: readonly Template[] = [
  {
    key: 'blank',
    name: 'Blank process',
    description: 'A start, and nothing else yet.',
    category: 'General',
    lanes: [],
    steps: [step('start', 'startEvent', 'Start', 0, 0)],
  },
  {
    key: 'simple-approval',
    name: 'Simple approval',
    description: 'Somebody asks, somebody decides, and whoever asked is told.',
    category: 'General',
    lanes: ['Requester', 'Approver'],
    steps: [
      step('start', 'startEvent', 'Something is needed', 0, 0, 'request'),
      step('request', 'userTask', 'Write the request', 1, 0, 'review'),
      step('review', 'userTask', 'Review the request', 2, 1, 'decision'),
      step('decision', 'exclusiveGateway', 'Approved?', 3, 1, ['carry-out', 'yes'], ['decline', 'no']),
      step('carry-out', 'userTask', 'Carry it out', 4, 0, 'done'),
      step('decline', 'sendTask', 'Tell why not', 4, 1, 'declined'),
      step('done', 'endEvent', 'Request met', 5, 0),
      step('declined', 'endEvent', 'Request declined', 5, 1),
    ],
  },
  {
    key: 'order-to-cash',
    name: 'Order to cash',
    description: 'From a customer’s order by delivery and invoice to the payment.',
    category: 'Enterprise',
    lanes: ['Sales', 'Logistics', 'Finance'],
    steps: [
      step('start', 'startEvent', 'Order received', 0, 0, 'enter'),
      step('enter', 'userTask', 'Enter the order', 1, 0, 'credit'),
      step('credit', 'businessRuleTask', 'Check the credit', 2, 2, 'creditworthy'),
      step('creditworthy', 'exclusiveGateway', 'Creditworthy?', 3, 2, ['confirm', 'yes'], ['refuse', 'no']),
      step('refuse', 'sendTask', 'Ask for prepayment', 4, 2, 'stopped'),
      step('stopped', 'endEvent', 'Order on hold', 5, 2),
      step('confirm', 'sendTask', 'Confirm the order', 4, 0, 'pick'),
      step('pick', 'userTask', 'Pick and pack', 5, 1, 'ship'),
      step('ship', 'userTask', 'Ship the goods', 6, 1, 'invoice'),
      step('invoice', 'serviceTask', 'Send the invoice', 7, 2, 'payment'),
      step('payment', 'receiveTask', 'Receive the payment', 8, 2, 'book'),
      step('book', 'serviceTask', 'Book the payment', 9, 2, 'end'),
      step('end', 'endEvent', 'Order paid', 10, 2),
    ],
  },
  {
    key: 'procure-to-pay',
    name: 'Procure to pay',
    description: 'From a requisition by order and delivery to the paid invoice.',
    category: 'Enterprise',
    lanes: ['Department', 'Purchasing', 'Accounts payable'],
    steps: [
      step('start', 'startEvent', 'Something runs out', 0, 0, 'requisition'),
      step('requisition', 'userTask', 'Write a requisition', 1, 0, 'budget'),
      step('budget', 'exclusiveGateway', 'Within the budget?', 2, 0, ['supplier', 'yes'], ['rejected', 'no']),
      step('rejected', 'endEvent', 'Requisition rejected', 3, 0),
      step('supplier', 'userTask', 'Choose a supplier', 3, 1, 'order'),
      step('order', 'sendTask', 'Send the order', 4, 1, 'receive'),
      step('receive', 'receiveTask', 'Receive the goods', 5, 0, 'invoice'),
      step('invoice', 'receiveTask', 'Receive the invoice', 6, 2, 'match'),
      step('match', 'businessRuleTask', 'Match invoice, order and goods', 7, 2, 'agrees'),
      step('agrees', 'exclusiveGateway', 'Do they agree?', 8, 2, ['pay', 'yes'], ['clarify', 'no']),
      step('clarify', 'userTask', 'Clarify with the supplier', 9, 1, 'match'),
      step('pay', 'serviceTask', 'Pay the invoice', 9, 2, 'end'),
      step('end', 'endEvent', 'Invoice paid', 10, 2),
    ],
  },
  {
    key: 'hire-to-retire',
    name: 'Hire to retire',
    description: 'The way of employees from the open position to the day on which they leave.',
    category: 'HR',
    lanes: ['Manager', 'Human resources', 'IT'],
    steps: [
      step('start', 'startEvent', 'Position open', 0, 0, 'profile'),
      step('profile', 'userTask', 'Describe the position', 1, 0, 'recruit'),
      step('recruit', 'subProcess', 'Recruit', 2, 1, 'contract'),
      step('contract', 'userTask', 'Sign the contract', 3, 1, 'split'),
      step('split', 'parallelGateway', '', 4, 1, 'onboard', 'equip'),
      step('onboard', 'userTask', 'Introduce the employee', 5, 1, 'join'),
      step('equip', 'userTask', 'Provide device and accounts', 5, 2, 'join'),
      step('join', 'parallelGateway', '', 6, 1, 'develop'),
      step('develop', 'subProcess', 'Review and develop', 7, 0, 'leaves'),
      step('leaves', 'exclusiveGateway', 'Leaves?', 8, 0, ['settle', 'yes'], ['develop', 'no']),
      step('settle', 'userTask', 'Settle the last pay', 9, 1, 'withdraw'),
      step('withdraw', 'serviceTask', 'Withdraw the accounts', 10, 2, 'end'),
      step('end', 'endEvent', 'Employee has left', 11, 2),
    ],
  },
  {
    key: 'incident-management',
    name: 'Incident management',
    description: 'From the report of an incident by diagnosis and escalation to its closure.',
    category: 'ITIL',
    lanes: ['Service desk', 'Second level'],
    steps: [
      step('start', 'startEvent', 'Incident reported', 0, 0, 'log'),
      step('log', 'userTask', 'Log the incident', 1, 0, 'classify'),
      step('classify', 'userTask', 'Classify and prioritise', 2, 0, 'diagnose'),
      step('diagnose', 'userTask', 'Make a first diagnosis', 3, 0, 'known'),
      step('known', 'exclusiveGateway', 'Solution known?', 4, 0, ['resolve', 'yes'], ['investigate', 'no']),
      step('investigate', 'userTask', 'Investigate the cause', 5, 1, 'solution'),
      step('solution', 'userTask', 'Work out a solution', 6, 1, 'resolve'),
      step('resolve', 'userTask', 'Resolve and recover', 7, 0, 'confirm'),
      step('confirm', 'receiveTask', 'Have it confirmed', 8, 0, 'works'),
      step('works', 'exclusiveGateway', 'Does it work?', 9, 0, ['close', 'yes'], ['investigate', 'no']),
      step('close', 'userTask', 'Close the incident', 10, 0, 'end'),
      step('end', 'endEvent', 'Incident closed', 11, 0),
    ],
  },
];
