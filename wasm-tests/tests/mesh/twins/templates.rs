//! The templates of the charts.

/// A Deployment behind a Service. `VARIABLES` stands for those of its container beside the name of its pod.
const WEB: &str = r#"apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}, labels: {helm.sh/chart: shop-{{ .Values.version }}}}
spec:
  selector: {app: {{ .Release.Name }}}
  ports: [{name: http, port: 80, targetPort: 8080}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}, labels: {helm.sh/chart: shop-{{ .Values.version }}}}
spec:
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      containers:
        - name: shop
          image: demo-shop
          args: [--listen=0.0.0.0:8080, --version={{ .Values.version }}, --pod=$(POD_NAME)]
          env:
            - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
            VARIABLES
          envFrom: {{ .Values.envFrom | default list | toJson }}
          resources: {{ .Values.resources | default dict | toJson }}
          ports: [{name: http, containerPort: 8080}]
          readinessProbe: {httpGet: {path: {{ .Values.probe | default "/healthz" }}, port: http}, periodSeconds: 1}
      volumes: {{ .Values.volumes | default list | toJson }}
"#;

const GREETING: &str =
    "- {name: GREETING, valueFrom: {configMapKeyRef: {name: {{ .Release.Name }}-config, key: greeting}}}";

const CONFIGURATION_AND_BUDGET: &str = "---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-config}
data: {greeting: 'this is {{ .Values.version }}'}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: {{ .Release.Name }}}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: {{ .Release.Name }}}}}
";

/// What a chart may have besides.
pub(super) const AUTOSCALER: &str = r"---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: {{ .Release.Name }}}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ .Release.Name }}}
  minReplicas: 1
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
";

/// A Deployment behind a Service, and these objects.
pub(super) fn deployment_with(objects: &str) -> String {
    format!("{}{objects}", WEB.replace("VARIABLES", ""))
}

/// A chart as its author wrote it: one Deployment behind one Service, its configuration, a disruption budget; and these objects.
pub(super) fn shop_with(objects: &str) -> String {
    format!("{}{CONFIGURATION_AND_BUDGET}{objects}", WEB.replace("VARIABLES", GREETING))
}
