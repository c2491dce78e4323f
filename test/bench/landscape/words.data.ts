/** Second words of names: what a business system may be about. */
export const businessWords: string[] = (
  'Accounts Acquisition Address Advisory Allocation Annuity Appeals Appointment Apprentice Arrears Asset Assortment ' +
  'Attendance Auction Audit Authoring Bailment Balance Banking Benefits Bidding Billing Booking Branch Brand Budget ' +
  'Calendar Campaign Capacity Cargo Carrier Catalogue Charter Checkout Claims Clearing Collateral Commission ' +
  'Complaints Compliance Consent Consignment Contract Coupon Courier Coverage Credit Customs Dealer Debit ' +
  'Delivery Demand Deposit Dispatch Dispute Dividend Document Donation Eligibility Emission Employee Energy ' +
  'Enrolment Equipment Escrow Estimate Evidence Expense Facility Factoring Fleet Forecast Franchise Fraud Freight ' +
  'Fulfilment Garage Grant Guarantee Harvest Hazard Health Hedging Hiring Household Identity Incident Inspection ' +
  'Insurance Inventory Invoice Journal Jurisdiction Knowledge Laboratory Leasing Ledger Legacy Levy Licence ' +
  'Liquidity Loan Locker Logistics Loyalty Maintenance Mandate Margin Market Maturity Meeting Membership Merchant ' +
  'Metering Mileage Mortgage Notice Nursing Occupancy Offer Onboarding Outage Parcel Parking Passenger Patent ' +
  'Payment Payroll Pension Permit Pharmacy Pledge Policy Portfolio Premium Pricing Procurement Product Property ' +
  'Quality Quotation Rebate Receipt Recovery Recruiting Redress Refund Renewal Rental Repair Reserve Retail Returns ' +
  'Roster Royalty Salary Sample Scheduling Sensor Settlement Shipment Solvency Sourcing Sponsor Statement Storage ' +
  'Subsidy Supplier Survey Tariff Taxation Tender Territory Ticket Timesheet Training Transit Treasury Tuition ' +
  'Underwriting Utility Vacation Valuation Vehicle Vendor Voucher Warehouse Warranty Waste Welfare Workforce'
).split(' ');

/** Second words of technical components; with the editions below they make one set of pairs. */
export const technicalWords: string[] = (
  'Broker Cache Database Firewall Balancer Scheduler Compiler Container Runtime Proxy Directory Vault Backup ' +
  'Monitoring Tracing Logging Search Streaming Queue Registry Mesh Storage Hypervisor Kernel Switch Router Scanner ' +
  'Replication Gateway Indexer Workflow Notebook Sandbox Terminal Printer Resolver Telemetry Encryption Archive Codec'
).split(' ');

export const editions = ['Server', 'Cluster', 'Client', 'Library', 'Appliance'];

/** Starts and ends of coined words. */
export const onsets =
  'b br c ch cl cr d dr f fl fr g gl gr h j k kr l m n p ph pl pr qu r s sc sh sl sp st t th tr v w z'.split(
    ' ',
  );
export const vowels = 'a e i o u ae ai ea ei ia io oa'.split(' ');
export const middles = 'b d f g k l ld lm ln lt m mb n nd ng nt p r rd rk rm rn rv s sk st t v x z'.split(
  ' ',
);
export const endings =
  'a al an ant ar as ax el en ent eon er esk et eus ex ia ic id im in ion is ista ium ix o on or os oft um us yl yn'.split(
    ' ',
  );

export const places = (
  'Aarhus Antwerp Basel Bilbao Bologna Brno Bruges Cork Dresden Dundee Eindhoven Exeter Gdansk Geneva Ghent ' +
  'Gothenburg Graz Haarlem Kaunas Leipzig Leuven Limerick Linz Lyon Malmo Mannheim Nantes Odense Ostrava Oulu ' +
  'Padua Porto Poznan Rennes Seville Split Tampere Tartu Trieste Turku Utrecht Valencia Varna Verona Zagreb'
).split(' ');
