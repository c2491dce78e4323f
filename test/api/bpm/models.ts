import type { TestAnswer, TestClient } from '../../support/harness.ts';

const BPMN = 'http://www.omg.org/spec/BPMN/20100524/MODEL';

/** A model whose root holds what is given. */
export const definitions = (content: string, more = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<b:definitions xmlns:b="${BPMN}" xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:di="http://www.omg.org/spec/DD/20100524/DI" targetNamespace="https://estate.example"${more}>\n${content}\n</b:definitions>\n`;

/** Tasks of one process, one after the other: names by their ids. */
export function chain(tasks: Record<string, string>): string {
  const ids = Object.keys(tasks);
  const elements = ids.map((id) => `<b:userTask id="${id}" name="${tasks[id]}"/>`);
  const flows = ids
    .slice(1)
    .map((id, n) => `<b:sequenceFlow id="f${n}" sourceRef="${ids[n]}" targetRef="${id}"/>`);
  return definitions(`<b:process id="p">${[...elements, ...flows].join('')}</b:process>`);
}

/** Two pools with lanes, subprocesses within each other, events and gateways, and a drawing. */
export const rich = definitions(`
<b:collaboration id="c">
  <b:participant id="poolShop" name="Shop &amp; Store" processRef="shop"/>
  <b:participant id="poolBank" name="Bank" processRef="bank"/>
  <b:messageFlow id="m1" sourceRef="pay" targetRef="received"/>
</b:collaboration>
<b:process id="shop">
  <b:laneSet id="ls"><b:lane id="l1" name="Sales"><b:flowNodeRef>start</b:flowNodeRef><b:flowNodeRef>check</b:flowNodeRef>
    <b:childLaneSet id="cl"><b:lane id="l11" name="Desk"><b:flowNodeRef>check</b:flowNodeRef></b:lane></b:childLaneSet></b:lane>
    <b:lane id="l2" name="Office"><b:flowNodeRef>sub</b:flowNodeRef></b:lane></b:laneSet>
  <b:startEvent id="start" name="Order"><b:messageEventDefinition id="med"/></b:startEvent>
  <b:userTask id="check" name="Check the order"><b:documentation>By hand.</b:documentation></b:userTask>
  <b:exclusiveGateway id="ok" name="OK?"/>
  <b:subProcess id="sub" name="Deliver">
    <b:serviceTask id="pack" name="Pack"/>
    <b:transaction id="inner" name="Book"><b:scriptTask id="pay" name="Pay"/><b:boundaryEvent id="late" attachedToRef="pay"><b:timerEventDefinition id="ted"/></b:boundaryEvent></b:transaction>
    <b:sequenceFlow id="s4" sourceRef="pack" targetRef="inner"/>
  </b:subProcess>
  <b:endEvent id="end"/>
  <b:sequenceFlow id="s1" sourceRef="start" targetRef="check"/>
  <b:sequenceFlow id="s2" sourceRef="check" targetRef="ok"/>
  <b:sequenceFlow id="s3" sourceRef="ok" targetRef="sub" name="yes"/>
  <b:sequenceFlow id="s5" sourceRef="ok" targetRef="end" name="no"/>
</b:process>
<b:process id="bank"><b:receiveTask id="received" name="Receive"/></b:process>
<bpmndi:BPMNDiagram id="d"><bpmndi:BPMNPlane id="pl" bpmnElement="c">
  <bpmndi:BPMNShape id="s_1" bpmnElement="poolShop" isHorizontal="true"><dc:Bounds x="0" y="0" width="600" height="200"/></bpmndi:BPMNShape>
  <bpmndi:BPMNShape id="s_2" bpmnElement="check"><dc:Bounds x="120" y="60" width="100" height="80"/></bpmndi:BPMNShape>
  <bpmndi:BPMNShape id="s_3" bpmnElement="ok"><dc:Bounds x="260" y="75" width="50" height="50"/></bpmndi:BPMNShape>
  <bpmndi:BPMNEdge id="e_1" bpmnElement="s2"><di:waypoint x="220" y="100"/><di:waypoint x="260" y="100"/></bpmndi:BPMNEdge>
</bpmndi:BPMNPlane></bpmndi:BPMNDiagram>`);

/** Sends a form with one file. */
export const sendFile = async (
  client: TestClient,
  url: string,
  content: Buffer | string,
): Promise<TestAnswer> =>
  await client.request({
    method: 'POST',
    url,
    headers: { 'content-type': 'multipart/form-data; boundary=nowhere-else' },
    payload: Buffer.concat([
      Buffer.from(
        '--nowhere-else\r\ncontent-disposition: form-data; name="file"; filename="model.bpmn"\r\ncontent-type: application/xml\r\n\r\n',
      ),
      Buffer.from(content),
      Buffer.from('\r\n--nowhere-else--\r\n'),
    ]),
  });
