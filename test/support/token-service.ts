import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface IssuedCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** AWS's token service as far as AssumeRole: gives the credentials that the test says, and keeps what it was asked. */
export class TokenService {
  readonly requests: { authorization: string; parameters: Record<string, string> }[] = [];
  private issued: IssuedCredentials = { accessKeyId: 'none', secretAccessKey: 'none' };
  private refusal: string | undefined;
  private readonly server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const parameters = Object.fromEntries(new URLSearchParams(body));
      this.requests.push({ authorization: request.headers.authorization ?? '', parameters });
      response.writeHead(this.refusal ? 403 : 200, { 'content-type': 'text/xml' });
      response.end(this.refusal ? refused(this.refusal) : assumed(this.issued, parameters.RoleArn ?? ''));
    });
  });

  /** Its address, on a free port. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  issue(credentials: IssuedCredentials): void {
    this.issued = credentials;
  }

  /** @param code of the error that it answers with; undefined for none */
  refuse(code: string | undefined): void {
    this.refusal = code;
  }
}

const NAMESPACE = 'https://sts.amazonaws.com/doc/2011-06-15/';

function assumed({ accessKeyId, secretAccessKey, sessionToken }: IssuedCredentials, role: string): string {
  const expiration = new Date(Date.now() + 3_600_000).toISOString();
  const token = sessionToken === undefined ? '' : `<SessionToken>${sessionToken}</SessionToken>`;
  return `<AssumeRoleResponse xmlns="${NAMESPACE}"><AssumeRoleResult><Credentials>
    <AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey>${token}
    <Expiration>${expiration}</Expiration></Credentials>
    <AssumedRoleUser><Arn>${role}/session</Arn><AssumedRoleId>id:session</AssumedRoleId></AssumedRoleUser>
  </AssumeRoleResult></AssumeRoleResponse>`;
}

function refused(code: string): string {
  return `<ErrorResponse xmlns="${NAMESPACE}"><Error><Type>Sender</Type><Code>${code}</Code>
    <Message>not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>`;
}
