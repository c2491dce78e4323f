import { inMonths } from './demo.dates.ts';
import { rowsOf } from './demo.rows.ts';
import type { DemoCardSource } from './demo.types.ts';

const provider = rowsOf('Provider');

const facts = (
  providerType: 'vendor' | 'partner' | 'internalProvider',
  website: string,
  contractEnd?: number,
) => ({
  providerType,
  website,
  ...(contractEnd === undefined ? {} : { contractEnd: inMonths(contractEnd) }),
});

/** Vendors of business applications are imaginary, like their products; makers of infrastructure are not. */
export const providers: DemoCardSource[] = [
  provider(
    'PRO-CLAUSEWELL',
    'Clausewell Software',
    'Maker of the policy and claims systems; sits on our steering committee twice a year.',
    facts('vendor', 'https://clausewell.example', 50),
    { tags: ['Regulation/DORA'], approval: 'APPROVED' },
  ),
  provider(
    'PRO-WATERLIJN',
    'Waterlijn Systemen',
    'Dutch vendor of PolisPlus, which has announced that it leaves the insurance market.',
    facts('vendor', 'https://waterlijn.example', 16),
  ),
  provider(
    'PRO-EVERSTEAD',
    'Everstead Life Systems',
    'Vendor of the life administration, with two maintenance releases a year.',
    facts('vendor', 'https://everstead.example', 31),
  ),
  provider(
    'PRO-OAKMERE',
    'Oakmere Solutions',
    'Vendor of the former claims system, under a run-off contract.',
    facts('vendor', 'https://oakmere.example', 8),
  ),
  provider(
    'PRO-QUANTBURY',
    'Quantbury Analytics',
    'Specialist in actuarial workbenches, small but with short ways.',
    facts('vendor', 'https://quantbury.example', 22),
  ),
  provider(
    'PRO-AMITY',
    'Amity Customer Cloud',
    'Vendor of customer relationship and master data services.',
    facts('vendor', 'https://amity-cloud.example', 27),
    { tags: ['Regulation/DORA', 'Regulation/GDPR'] },
  ),
  provider(
    'PRO-SUMWISE',
    'Sumwise Billing',
    'Vendor of billing and collections. Raises prices with every renewal.',
    facts('vendor', 'https://sumwise.example', 13),
  ),
  provider(
    'PRO-CORVANE',
    'Corvane Business Suite',
    'Vendor of ledger, consolidation and personnel system under one frame contract.',
    facts('vendor', 'https://corvane.example', 34),
    { tags: ['Regulation/DORA'] },
  ),
  provider(
    'PRO-FOLIANT',
    'Foliant Documents',
    'Vendor of archive, output and scanning.',
    facts('vendor', 'https://foliant.example', 19),
  ),
  provider(
    'PRO-CEDANT',
    'Cedant Capital Software',
    'Vendor of reinsurance and capital models.',
    facts('vendor', 'https://cedant.example', 25),
  ),
  provider(
    'PRO-TILLMARK',
    'Tillmark Payments',
    'Payment institution that connects us with banks and card schemes.',
    facts('partner', 'https://tillmark.example', 29),
    { tags: ['Regulation/DORA'], approval: 'APPROVED' },
  ),
  provider(
    'PRO-RULEBOOK',
    'Rulebook Compliance Systems',
    'Vendor of filing, risk and contract registers.',
    facts('vendor', 'https://rulebook.example', 17),
  ),
  provider(
    'PRO-LODESTAR',
    'Lodestar Service Management',
    'Vendor of the service desk and of the project tool.',
    facts('vendor', 'https://lodestar.example', 21),
  ),
  provider(
    'PRO-NIMBARA',
    'Nimbara Cloud',
    'Cloud provider for two thirds of our workload, and our largest concentration risk.',
    facts('vendor', 'https://nimbara.example', 40),
    { tags: ['Regulation/DORA'], approval: 'APPROVED' },
  ),
  provider(
    'PRO-REDHAT',
    'Red Hat',
    'Linux and the cluster in the computing centre, with support at all hours.',
    facts('vendor', 'https://www.redhat.com', 18),
  ),
  provider(
    'PRO-ORACLE',
    'Oracle',
    'Databases of the life system and of the archive.',
    facts('vendor', 'https://www.oracle.com', 12),
  ),
  provider(
    'PRO-MICROSOFT',
    'Microsoft',
    'Windows, databases and office software under one enterprise agreement.',
    facts('vendor', 'https://www.microsoft.com', 26),
  ),
  provider(
    'PRO-IBM',
    'IBM',
    'Mainframe, its database and its maintenance, until the machine is switched off.',
    facts('vendor', 'https://www.ibm.com', 21),
  ),
  provider(
    'PRO-TECHNOLOGY',
    'Larkfield Group Technology',
    'Our own teams as providers to the companies of the group, with agreed service levels.',
    facts('internalProvider', 'https://technology.larkfield.example'),
  ),
  provider(
    'PRO-SWINHALL',
    'Swinhall Hosting',
    'Landlord of the computing centre in Swindon and provider of the operations desk.',
    facts('partner', 'https://swinhall.example', 21),
    { tags: ['Regulation/DORA'] },
  ),
];
