{{- /* What the Pods of the gateway and those of the aggregated API server share. */ -}}
{{- define "portolan.podSettings" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /*
The container of the gateway, and that of the aggregated API server. The parameter is a dict:
  root, args (after those of both), port (name, number, scheme), live (the path of the probes that restart the Pod), mounts (of its own)
*/ -}}
{{- define "portolan.container" -}}
{{- $ := .root -}}
{{- $port := .port -}}
name: portolan
image: {{ include "portolan.image" $ }}
imagePullPolicy: {{ $.Values.image.pullPolicy }}
args:
  - serve
  - --config
  - /etc/portolan/portolan.yaml
  {{- with $.Values.extraArgs }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with .args }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $.Values.env }}
env:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
ports:
  - name: {{ $port.name }}
    containerPort: {{ $port.number }}
    protocol: TCP
{{- range $name, $path := dict "startup" .live "liveness" .live "readiness" "/readyz" }}
{{ $name }}Probe:
  httpGet:
    path: {{ $path }}
    port: {{ $port.name }}
    scheme: {{ $port.scheme }}
  {{- toYaml (get $.Values (printf "%sProbe" $name)) | nindent 2 }}
{{- end }}
{{- if and $.Values.preStopSeconds (semverCompare ">=1.30-0" $.Capabilities.KubeVersion.Version) }}
lifecycle:
  preStop:
    sleep:
      seconds: {{ $.Values.preStopSeconds }}
{{- end }}
{{- with $.Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  {{- include "portolan.volumeMounts" $ | trim | nindent 2 }}
  {{- range list .mounts $.Values.extraVolumeMounts }}
  {{- with . }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
{{- end -}}

{{- define "portolan.volumeMounts" -}}
- name: config
  mountPath: /etc/portolan
  readOnly: true
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
{{- range $name, $path := include "portolan.secretVolumes" . | fromYaml }}
- name: {{ $name }}
  mountPath: /etc/portolan-{{ $name }}
  readOnly: true
{{- end }}
{{- end -}}

{{- /* The parameter is (list $ isTemporary): do the data go with the Pod? */ -}}
{{- define "portolan.volumes" -}}
{{- $ := first . -}}
- name: config
  configMap:
    name: {{ include "portolan.fullname" $ }}
- name: tmp
  emptyDir:
    sizeLimit: 256Mi
{{- if last . }}
- name: data
  emptyDir:
    sizeLimit: {{ $.Values.data.size }}
{{- end }}
{{- range $name, $secret := include "portolan.secretVolumes" $ | fromYaml }}
- name: {{ $name }}
  secret:
    secretName: {{ $secret }}
{{- end }}
{{- with $.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* The parameter is (list $ "template of the selector's labels"). */ -}}
{{- define "portolan.placement" -}}
{{- $ := first . -}}
{{- $labels := include (last .) $ | fromYaml -}}
{{- with $.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  {{- $selector := dict "labelSelector" (dict "matchLabels" $labels) }}
  - {{ merge (deepCopy .) $selector | toYaml | nindent 4 | trim }}
  {{- end }}
{{- end }}
{{- end -}}

{{- /* The egress rules of the NetworkPolicies. */ -}}
{{- define "portolan.egress" -}}
# The names of API servers.
- ports:
    - port: 53
      protocol: UDP
    - port: 53
      protocol: TCP
- ports:
    {{- range .Values.networkPolicy.apiServerPorts }}
    - port: {{ . }}
      protocol: TCP
    {{- end }}
{{- with .Values.networkPolicy.egress }}
{{ toYaml . }}
{{- end }}
{{- end -}}
